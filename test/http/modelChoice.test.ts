/** Who may choose which model, and which model a thread shows. */
import { assert, describe, it } from "@effect/vitest"
import { during } from "../setup/during.ts"
import type { Client } from "../setup/server.ts"
import { startServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const server = await during(
  startServer({
    models: {
      env: {},
      modelsFile: {
        aliases: { "@paid": ["troupe/scripted-paid"], "@both": ["troupe/scripted-paid", "troupe/scripted-small"] }
      }
    }
  })
)
const writer = server.alpha
const runner = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })
const agentId = await makeAgent(writer, ["troupe/scripted-paid", "troupe/scripted-small"])

const send = (client: Client, threadId: string, more: object) =>
  client.post(`/v1/threads/${threadId}/messages`, { content: text("hello"), ...more })
const detailOf = async (threadId: string) => (await writer.get(`/v1/threads/${threadId}`)).body
const listed = async (threadId: string) => {
  const page = await writer.get(`/v1/threads?limit=200&agentId=${(await detailOf(threadId)).thread.agentId}`)
  return page.body.threads.find(({ thread }: { readonly thread: { readonly id: string } }) => thread.id === threadId)
}

describe("a model that a key without the scope write names", () => {
  it("is one that the profile selects, by whatever selector", async () => {
    const threadId = await makeThread(runner, agentId)
    for (const model of ["troupe/scripted-paid", "troupe/scripted-small", "@paid", "@both"]) {
      assert.strictEqual((await send(runner, threadId, { model })).status, 201, model)
    }
    await logOf(runner, threadId, ended(4))
  })

  it("is no other one: whoever sends a message does not write the agent's tool calls", async () => {
    const threadId = await makeThread(runner, agentId)
    for (const more of [
      { model: "troupe/scripted" },
      { model: "troupe/*" },
      { model: "troupe/scripted", mode: "interrupt" }
    ]) {
      const refused = await send(runner, threadId, more)
      assertRefused(refused, 403, "permission_denied", "model_not_in_profile")
      assert.match(refused.body.message, /^model: /)
    }
    assertRefused(
      await runner.post("/v1/threads", { agentId, model: "troupe/scripted" }),
      403,
      "permission_denied",
      "model_not_in_profile"
    )
    assertRefused(await send(runner, threadId, { model: "nobody/nothing" }), 422, "model_unavailable")
    assert.strictEqual((await detailOf(threadId)).lastSeq, 0)
  })

  it("is refused while a turn runs, too, and what is refused does not wait", async () => {
    const threadId = await makeThread(runner, agentId)
    await submit(runner, threadId, "/wait 10s")
    assertRefused(
      await send(runner, threadId, { model: "troupe/scripted" }),
      403,
      "permission_denied",
      "model_not_in_profile"
    )
    assert.deepStrictEqual((await detailOf(threadId)).queued, [])
    await runner.post(`/v1/threads/${threadId}/cancel`, {})
  })

  it("is asked of the profile that the thread is pinned to", async () => {
    const { profileId } = (await writer.get(`/v1/agents/${agentId}`)).body.agent
    const own = await writer.post("/v1/agents", { name: "Pinned", profileId })
    const threadId = await makeThread(writer, own.body.agent.id, { profileVersion: 1 })
    const other = await writer.post("/v1/profiles", { name: "Other", models: ["troupe/scripted"] })
    assert.strictEqual(
      (await writer.patch(`/v1/agents/${own.body.agent.id}`, { profileId: other.body.profile.id })).status,
      200
    )
    assertRefused(
      await send(runner, threadId, { model: "troupe/scripted" }),
      403,
      "permission_denied",
      "model_not_in_profile"
    )
    assert.strictEqual((await send(runner, threadId, { model: "troupe/scripted-small" })).status, 201)
    await logOf(runner, threadId, ended(1))
  })

  it("does not come by the message of somebody who may: edited by others it keeps no such model", async () => {
    const threadId = await makeThread(runner, agentId)
    await submit(runner, threadId, "/wait 10s")
    const free = await submit(writer, threadId, "by the writer", { model: "troupe/scripted" })
    const plain = await submit(writer, threadId, "by the writer")
    const path = `/v1/threads/${threadId}/queue`
    assertRefused(
      await runner.patch(`${path}/${free.id}`, { content: text("by the runner") }),
      403,
      "permission_denied",
      "model_not_in_profile"
    )
    assert.strictEqual((await runner.patch(`${path}/${plain.id}`, { content: text("by the runner") })).status, 200)
    assert.strictEqual((await writer.patch(`${path}/${free.id}`, { content: text("by the writer still") })).status, 200)
    await runner.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
  })
})

describe("a retry of somebody's turn on a model that the profile does not select", () => {
  it("is for those who may name that model", async () => {
    const threadId = await makeThread(runner, agentId)
    await submit(writer, threadId, "/fail content_refused no", { model: "troupe/scripted" })
    await logOf(runner, threadId, ended(1))
    assertRefused(
      await runner.post(`/v1/threads/${threadId}/retry`, {}),
      403,
      "permission_denied",
      "model_not_in_profile"
    )
    const retried = await writer.post(`/v1/threads/${threadId}/retry`, {})
    assert.strictEqual(retried.status, 201, retried.text)
    assert.strictEqual(retried.body.model, "troupe/scripted")
    await logOf(runner, threadId, ended(2))
  })

  it("is for everybody where the profile selects it, or the message named none", async () => {
    const threadId = await makeThread(runner, agentId)
    for (const [turns, more] of [
      [1, { model: "troupe/scripted-small" }],
      [3, {}]
    ] as const) {
      await submit(runner, threadId, "/fail content_refused no", more)
      await logOf(runner, threadId, ended(turns))
      assert.strictEqual((await runner.post(`/v1/threads/${threadId}/retry`, {})).status, 201)
      await logOf(runner, threadId, ended(turns + 1))
    }
  })
})

describe("a key with the scope write", () => {
  it("names any model", async () => {
    const threadId = await makeThread(writer, agentId, { model: "troupe/scripted" })
    await submit(writer, threadId, "hello")
    // The thread's model is its maker's choice: who sends to it has not chosen.
    await submit(runner, threadId, "hello")
    await submit(writer, threadId, "hello", { model: "troupe/*" })
    await logOf(writer, threadId, ended(3))
    assert.strictEqual((await detailOf(threadId)).model, "troupe/scripted")
  })
})

describe("the model of a thread", () => {
  const shown = async (threadId: string) => {
    const [detail, summary] = [await detailOf(threadId), await listed(threadId)]
    assert.strictEqual(summary.model, detail.model, "list and detail say the same")
    return detail.model
  }

  it("is that of its last turn, and absent before there is one", async () => {
    const threadId = await makeThread(writer, agentId)
    assert.isUndefined(await shown(threadId))
    await submit(writer, threadId, "hello", { model: "@both" })
    await logOf(writer, threadId, ended(1))
    assert.strictEqual(await shown(threadId), "troupe/scripted-paid")
  })

  it("is an exact id also where a selector waits, and the profile's first where nothing says otherwise", async () => {
    const threadId = await makeThread(writer, agentId)
    await submit(writer, threadId, "/wait 10s", { model: "troupe/scripted-small" })
    assert.strictEqual(await shown(threadId), "troupe/scripted-small")
    await submit(writer, threadId, "no model")
    assert.strictEqual(await shown(threadId), "troupe/scripted-paid")
    // Text that looks like the fields beside it, and a character that PostgreSQL's own JSON does not take.
    await submit(writer, threadId, `"model":"x/y","mode":"interrupt" \\"model":"x/z" \u0000`)
    assert.strictEqual(await shown(threadId), "troupe/scripted-paid")
    await submit(writer, threadId, "a selector", { model: "troupe/*" })
    assert.strictEqual(await shown(threadId), "troupe/scripted")
    await submit(writer, threadId, "a steer runs before these", { mode: "steer" })
    assert.strictEqual(await shown(threadId), "troupe/scripted")
    const cancelled = await writer.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    assert.strictEqual(cancelled.body.model, await shown(threadId))
  })

  it("is the thread's own where the input that waits brings none", async () => {
    const threadId = await makeThread(writer, agentId, { model: "@both" })
    await submit(writer, threadId, "/wait 10s", { model: "troupe/scripted" })
    await submit(writer, threadId, "no model")
    assert.strictEqual(await shown(threadId), "troupe/scripted-paid")
    const cancelled = await writer.post(`/v1/threads/${threadId}/cancel`, {})
    assert.strictEqual(cancelled.body.model, "troupe/scripted-paid")
  })

  it("is the running turn's while a steer waits for that", async () => {
    const threadId = await makeThread(writer, agentId)
    await submit(writer, threadId, "/wait 10s", { model: "troupe/scripted-small" })
    await submit(writer, threadId, "a steer", { mode: "steer" })
    assert.strictEqual(await shown(threadId), "troupe/scripted-small")
    await writer.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
  })
})

describe("a server without the scripted models", () => {
  it("lists none and runs none", async () => {
    const bare = await startServer({ models: { env: {}, scripted: false } })
    try {
      assert.deepStrictEqual((await bare.alpha.get("/v1/models")).body, { models: [] })
      const agent = await makeAgent(bare.alpha, ["troupe/scripted"])
      const threadId = await makeThread(bare.alpha, agent)
      assertRefused(await send(bare.alpha, threadId, {}), 422, "model_unavailable")
      assertRefused(await send(bare.alpha, threadId, { model: "troupe/scripted-paid" }), 422, "model_unavailable")
    } finally {
      await bare.stop()
    }
  })
})
