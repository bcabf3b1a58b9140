/** Who may watch a stream or wait for news, how many at once, and for how long. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Streams } from "../../http/streams/Streams.ts"
import { Client, startServer } from "../setup/server.ts"
import { Watcher } from "./sse.ts"
import { makeAgent, makeThread, submit } from "./threadFixture.ts"
import { ofThread, streamStand } from "./streamFixture.ts"
import { fresh } from "./toolFixture.ts"

const { agentId, server, watch } = await streamStand()

describe("who may watch", () => {
  const goodbye = (watcher: Watcher) => watcher.until(({ closed }) => closed, 6_000)

  it("ends with bye auth_expired within five seconds when the key is revoked", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    assert.strictEqual(made.status, 201, made.text)
    const watcher = await Watcher.open(server.base, ofThread(threadId), made.body.token)
    await watcher.until(({ frames }) => frames.length === 1)
    const revoked = await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.oneOf(revoked.status, [200, 204])
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1), { event: "bye", id: undefined, data: { reason: "auth_expired" } })
  })

  it("ends when the key's identity is disabled", async () => {
    const identity = fresh("mallory")
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { identity })
    const watcher = await watch(ofThread(threadId), { client })
    await watcher.until(({ frames }) => frames.length === 1)
    const disabled = await server.alpha.post("/v1/identities/disable", { identity })
    assert.strictEqual(disabled.status, 200, disabled.text)
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1)!.data, { reason: "auth_expired" })
  })

  it("ends when the key expires", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { expiresAt: Date.now() + 1_500 })
    const watcher = await watch(ofThread(threadId), { client })
    await watcher.until(({ frames }) => frames.length === 1)
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1)!.data, { reason: "auth_expired" })
  })

  it("does not disturb other keys", async () => {
    const identity = fresh("eve")
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId))
    await watcher.until(({ frames }) => frames.length === 1)
    const client = await server.client(server.workspaces.alpha, { identity })
    await client.get("/v1/auth")
    await server.alpha.post("/v1/identities/disable", { identity })
    await watcher.until(({ comments }) => comments.length >= 8)
    assert.deepStrictEqual(watcher.events("bye"), [])
    watcher.close()
  })
})

describe("who may wait for news", () => {
  const poll = (client: Client, threadId: string) => client.get(`/v1/threads/${threadId}/events?waitSeconds=30`)
  const isWaiting = async (count: number) => {
    const streams = await server.runtime.runPromise(Streams)
    await server.runtime.runPromise(
      Effect.sleep(5).pipe(Effect.repeat({ while: () => streams.waiting() < count, times: 1_000 }))
    )
    assert.strictEqual(streams.waiting(), count)
  }
  const refusedSoon = async (answer: ReturnType<typeof poll>, began: number) => {
    const { body, status } = await answer
    assert.isBelow(performance.now() - began, 5_000)
    return [status, body.error]
  }

  it("is refused within five seconds when the key is revoked, and learns nothing more", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    const answer = poll(new Client(server.base, made.body.token), threadId)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.deepStrictEqual(await refusedSoon(answer, began), [401, "unauthenticated"])
    await isWaiting(0)
  })

  it("of a feed is refused within five seconds when the key is revoked", async () => {
    const { feed } = (await server.alpha.post("/v1/feeds", { name: fresh("watched") })).body
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    const client = new Client(server.base, made.body.token)
    const answer = client.get(`/v1/feeds/${feed.id}/messages?startSeq=1&waitSeconds=30`)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.deepStrictEqual(await refusedSoon(answer, began), [401, "unauthenticated"])
    await isWaiting(0)
  })

  it("of an operation is refused within five seconds when the key is revoked", async () => {
    const space = await server.workspace("waiting for an operation")
    const admin = await server.client(space)
    const rules = [{ actions: ["identity.*"], principals: ["api_key"], require: true }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    const parked = await admin.post("/v1/identities/disable", { identity: "mallory" })
    assert.strictEqual(parked.status, 202, parked.text)
    const made = await admin.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    const client = new Client(server.base, made.body.token)
    const answer = client.get(`/v1/operations/${parked.body.operation.id}?waitSeconds=60`)
    await isWaiting(1)
    const began = performance.now()
    await admin.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.deepStrictEqual(await refusedSoon(answer, began), [401, "unauthenticated"])
    await isWaiting(0)
  })

  it("is refused when the key's identity is disabled", async () => {
    const identity = fresh("trudy")
    const threadId = await makeThread(server.alpha, agentId)
    const answer = poll(await server.client(server.workspaces.alpha, { identity }), threadId)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.post("/v1/identities/disable", { identity })
    assert.deepStrictEqual(await refusedSoon(answer, began), [403, "identity_disabled"])
  })

  it("is refused when the key expires", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { expiresAt: Date.now() + 1_500 })
    assert.deepStrictEqual(await refusedSoon(poll(client, threadId), performance.now()), [401, "unauthenticated"])
  })

  it("is not disturbed by the end of other keys", async () => {
    const identity = fresh("oscar")
    const threadId = await makeThread(server.alpha, agentId)
    const answer = poll(server.alpha, threadId)
    const other = poll(await server.client(server.workspaces.alpha, { identity }), threadId)
    await isWaiting(2)
    await server.alpha.post("/v1/identities/disable", { identity })
    assert.strictEqual((await other).status, 403)
    await isWaiting(1)
    await submit(server.alpha, threadId, "hello")
    assert.strictEqual((await answer).body.events[0].type, "user_message")
  })

  it("counts as a watcher of a stream: with 100 of both, neither is opened", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha)
    const watchers = await Promise.all(Array.from({ length: 90 }, () => watch(ofThread(threadId), { client })))
    const polls = Array.from({ length: 10 }, () => poll(client, threadId))
    await isWaiting(10)
    for (const path of [`/v1/threads/${threadId}/events?waitSeconds=1`, ofThread(threadId)]) {
      const refused = await client.get(path)
      assert.deepStrictEqual(
        [refused.status, refused.body.error, refused.body.code],
        [429, "rate_limited", "too_many_streams"]
      )
    }
    assert.strictEqual((await client.get(`/v1/threads/${threadId}/events`)).status, 200)
    await submit(server.alpha, threadId, "hello")
    for (const { status } of await Promise.all(polls)) assert.strictEqual(status, 200)
    await isWaiting(0)
    assert.strictEqual((await client.get(`/v1/threads/${threadId}/events?waitSeconds=1`)).status, 200)
    for (const watcher of watchers) watcher.close()
  })
})

describe("how many and how long", () => {
  it("allows a key 100 streams, and one more once one is closed", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha)
    const watchers = await Promise.all(Array.from({ length: 100 }, () => watch(ofThread(threadId), { client })))
    assert.isTrue(watchers.every(({ status }) => status === 200))
    const refused = await client.get(ofThread(threadId))
    assert.deepStrictEqual(
      [refused.status, refused.body.error, refused.body.code],
      [429, "rate_limited", "too_many_streams"]
    )
    assert.strictEqual(refused.headers.get("retry-after"), String(refused.body.retryAfterSeconds))
    const other = await watch(ofThread(threadId), { client: server.alpha })
    assert.strictEqual(other.status, 200)
    watchers[0]!.close()
    let again = await watch(ofThread(threadId), { client })
    for (let i = 0; i < 100 && again.status === 429; i++) again = await watch(ofThread(threadId), { client })
    assert.strictEqual(again.status, 200)
    for (const watcher of [...watchers, other, again]) watcher.close()
  })

  it("says bye draining on drain, and takes no new streams", async () => {
    const own = await startServer()
    try {
      const agent = await makeAgent(own.alpha)
      const threadId = await makeThread(own.alpha, agent)
      const watchers = await Promise.all(
        ["/v1/events/stream", ofThread(threadId), `/v1/agents/${agent}/events/stream`].map((path) =>
          Watcher.open(own.base, path, own.alpha.token!)
        )
      )
      for (const watcher of watchers) await watcher.until(({ frames }) => frames.length === 1)
      const streams = await own.runtime.runPromise(Streams)
      await own.runtime.runPromise(streams.drain)
      for (const watcher of watchers) {
        await watcher.until(({ closed }) => closed)
        assert.deepStrictEqual(watcher.frames.at(-1), { event: "bye", id: undefined, data: { reason: "draining" } })
      }
      const refused = await own.alpha.get(ofThread(threadId))
      assert.deepStrictEqual([refused.status, refused.body.error], [503, "node_draining"])
    } finally {
      await own.stop()
    }
  })
})
