/** Whose words are whose: an edited message, a steer, and threads of somebody else's name. */
import { assert, describe, it } from "@effect/vitest"
import { allow, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { fresh, makeWorker, only } from "./toolFixture.ts"

interface Person {
  readonly client: Client
  readonly principal: { readonly type: string; readonly id: string; readonly identity?: string }
}

const server = await during(startServer({ idleMs: 50 }))
const hooks = await during(startHookServer())
const person = async (identity: string): Promise<Person> => {
  const client = await server.client(server.workspaces.alpha, { scopes: ["read", "run"], identity })
  return { client, principal: (await client.get("/v1/auth")).body.principal }
}
const alice = await person("alice")
const bob = await person("bob")
const agentId = await makeAgent(server.alpha)

/** A message of alice's that waits behind a turn. */
const waiting = async (agent = agentId) => {
  const threadId = await makeThread(server.alpha, agent)
  const running = await submit(server.alpha, threadId, "/wait 10s")
  const { id } = await submit(alice.client, threadId, "hello from alice")
  return {
    threadId,
    id,
    path: `/v1/threads/${threadId}/queue/${id}`,
    go: () => server.alpha.post(`/v1/threads/${threadId}/cancel`, { turnId: running.turnId })
  }
}

describe("a message that somebody else edits", () => {
  it("is the editor's from then on, wherever it is shown, and says who sent it", async () => {
    const { go, id, path, threadId } = await waiting()
    const edited = await bob.client.patch(path, { content: text("bob wrote this") })
    assert.strictEqual(edited.status, 200, edited.text)
    const whose = { principal: bob.principal, submittedBy: alice.principal }
    assert.deepInclude(edited.body, whose)
    assert.deepInclude((await alice.client.get(path)).body, { ...whose, state: "queued" })
    assert.deepInclude((await alice.client.get(`/v1/threads/${threadId}/queue`)).body[0], whose)
    await go()
    const log = await logOf(alice.client, threadId, ended(2))
    assert.deepInclude(
      log.find(({ inputId }) => inputId === id),
      { ...whose, content: text("bob wrote this") }
    )
    assert.deepStrictEqual(only(log, "turn_completed")[0]?.principal, bob.principal)
    assert.deepInclude((await alice.client.get(path)).body, { ...whose, state: "admitted" })
  })

  it("is its sender's again who edits it back, and says of nobody else", async () => {
    const { go, id, path, threadId } = await waiting()
    await bob.client.patch(path, { content: text("bob wrote this") })
    const back = await alice.client.patch(path, { content: text("alice wrote this") })
    assert.deepInclude(back.body, { principal: alice.principal, content: text("alice wrote this") })
    assert.notProperty(back.body, "submittedBy")
    await go()
    const log = await logOf(alice.client, threadId, ended(2))
    assert.notProperty(
      log.find(({ inputId }) => inputId === id),
      "submittedBy"
    )
  })

  it("does not run once the editor's identity is disabled", async () => {
    const eve = await server.client(server.workspaces.alpha, { scopes: ["read", "run"], identity: "eve" })
    const { go, id, path, threadId } = await waiting()
    assert.strictEqual((await eve.patch(path, { content: text("eve wrote this") })).status, 200)
    await server.alpha.post("/v1/identities/disable", { identity: "eve" })
    await go()
    const log = await logOf(server.alpha, threadId, ended(2))
    const turn = log.find(({ inputId }) => inputId === id)?.turnId
    assert.deepInclude(
      log.find((event) => event.turnId === turn && event.type === "turn_failed"),
      { failureCode: "identity_disabled" }
    )
    await server.alpha.post("/v1/identities/enable", { identity: "eve" })
  })

  it("runs though its first sender's identity is disabled: the words are not theirs any more", async () => {
    const identity = fresh("mallory")
    const mallory = await server.client(server.workspaces.alpha, { scopes: ["read", "run"], identity })
    const { threadId, go } = await waiting()
    const { id } = await submit(mallory, threadId, "mallory wrote this")
    assert.strictEqual(
      (await bob.client.patch(`/v1/threads/${threadId}/queue/${id}`, { content: text("bob wrote this") })).status,
      200
    )
    await server.alpha.post("/v1/identities/disable", { identity })
    await go()
    const log = await logOf(server.alpha, threadId, ended(3))
    const turn = log.find(({ inputId }) => inputId === id)?.turnId
    assert.isTrue(log.some((event) => event.turnId === turn && event.type === "turn_completed"))
  })
})

describe("a steer", () => {
  it("does not join its turn once its sender's identity is disabled, and neither does an edited one of its editor's: each fails as an input of its own", async () => {
    const named = (identity: string) => server.client(server.workspaces.alpha, { scopes: ["read", "run"], identity })
    const identities = [fresh("ivan"), fresh("judy")] as const
    const [ivan, judy] = await Promise.all([named(identities[0]), named(identities[1])])
    const threadId = await makeThread(server.alpha, agentId)
    const { turnId } = await submit(server.alpha, threadId, "/wait 1s\nhello")
    const steers = [
      await submit(ivan, threadId, "ivan steers", { mode: "steer" }),
      await submit(alice.client, threadId, "alice steers", { mode: "steer" }),
      await submit(bob.client, threadId, "bob steers", { mode: "steer" })
    ]
    assert.strictEqual(
      (await judy.patch(`/v1/threads/${threadId}/queue/${steers[1].id}`, { content: text("judy wrote this") })).status,
      200
    )
    for (const identity of identities) await server.alpha.post("/v1/identities/disable", { identity })
    const log = await logOf(server.alpha, threadId, ended(3))
    const [gone, edited, joined] = steers.map(({ id }) => log.find(({ inputId }) => inputId === id))
    assert.strictEqual(joined?.turnId, turnId)
    for (const steer of [gone, edited]) {
      assert.notStrictEqual(steer?.turnId, turnId)
      assert.deepInclude(
        log.find((event) => event.turnId === steer?.turnId && event.type === "turn_failed"),
        { failureCode: "identity_disabled" }
      )
    }
    assert.isTrue(log.some((event) => event.turnId === turnId && event.type === "turn_completed"))
  })

  it("of a disabled identity asks for no further response of the turn that it did not join", async () => {
    const identity = fresh("kim")
    const kim = await server.client(server.workspaces.alpha, { scopes: ["read", "run"], identity })
    const threadId = await makeThread(server.alpha, agentId)
    const { turnId } = await submit(server.alpha, threadId, "/wait 1s\nhello")
    await submit(kim, threadId, "kim steers", { mode: "steer" })
    await server.alpha.post("/v1/identities/disable", { identity })
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.strictEqual(only(log, "assistant_message").length, 1)
    assert.deepStrictEqual(
      log.filter((event) => event.turnId === turnId).map(({ type }) => type),
      ["user_message", "assistant_message", "turn_completed"]
    )
  })
})

describe("a hook", () => {
  const judge = async () => {
    const endpoint = hooks.endpoint(allow())
    const hook = (point: string) => ({ name: fresh("hook"), point, processor: { type: "url", url: endpoint.url } })
    return {
      endpoint,
      agent: await makeWorker(server.alpha, { hooks: [hook("before_turn_start"), hook("after_model_response")] })
    }
  }
  const seen = ({ endpoint }: Awaited<ReturnType<typeof judge>>) =>
    endpoint
      .received()
      .map(({ body }) => ({ point: body.point, principal: body.principal, turnPrincipal: body.turnPrincipal }))

  it("is told who sent the message that it judges, a steer's too, and whose turn it is", async () => {
    const judging = await judge()
    const threadId = await makeThread(server.alpha, judging.agent)
    await submit(alice.client, threadId, "/wait 500ms\nhello from alice")
    // The model is being asked: a steer of before that would be judged before it, too.
    await logOf(server.alpha, threadId, (log) => only(log, "hook_decision").length === 1)
    await submit(bob.client, threadId, "a steer from bob", { mode: "steer" })
    await logOf(server.alpha, threadId, ended(1))
    const turnPrincipal = alice.principal
    assert.deepStrictEqual(seen(judging), [
      { point: "before_turn_start", principal: alice.principal, turnPrincipal },
      { point: "after_model_response", principal: alice.principal, turnPrincipal },
      { point: "before_turn_start", principal: bob.principal, turnPrincipal },
      { point: "after_model_response", principal: alice.principal, turnPrincipal }
    ])
  })

  it("is told the editor of a message that was edited", async () => {
    const judging = await judge()
    const { go, path, threadId } = await waiting(judging.agent)
    await eventually(() => seen(judging).length === 1, "the first message is judged")
    await bob.client.patch(path, { content: text("bob wrote this") })
    await go()
    await logOf(server.alpha, threadId, ended(2))
    assert.deepStrictEqual(seen(judging)[1], {
      point: "before_turn_start",
      principal: bob.principal,
      turnPrincipal: bob.principal
    })
  })
})

describe("a key with an identity", () => {
  it("makes threads of that identity, whether it says so or not", async () => {
    for (const more of [{}, { identity: "alice" }, { identity: " alice " }]) {
      const made = await alice.client.post("/v1/threads", { agentId, ...more })
      assert.deepStrictEqual([made.status, made.body.thread?.identity], [201, "alice"], made.text)
    }
  })

  it("makes none of another identity", async () => {
    const refused = await bob.client.post("/v1/threads", { agentId, identity: "alice" })
    assertRefused(refused, 403, "permission_denied", "foreign_identity")
    assert.match(refused.body.message, /^identity: /)
  })

  it("makes threads of any identity, or of none, with the scope admin; so does a key without identity", async () => {
    const admin = await server.client(server.workspaces.alpha, { identity: "root" })
    const keyed = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })
    for (const client of [admin, keyed]) {
      for (const more of [{}, { identity: "alice" }]) {
        const made = await client.post("/v1/threads", { agentId, ...more })
        assert.deepStrictEqual(
          [made.status, made.body.thread?.identity],
          [201, "identity" in more ? more.identity : undefined],
          made.text
        )
      }
    }
  })
})
