/** The queue of a thread: in which order it runs, and how what waits in it is edited, let go and promoted. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InputRecord } from "../../src/threads/messageInput.ts"
import { QueuedMessage } from "../../src/domain/thread.ts"
import { sharedServer } from "../setup/server.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { decodeSubmitted, image, makeMessageTools } from "./messageFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const { send } = makeMessageTools(server)

const decodeRecord = Schema.decodeUnknownSync(InputRecord, { onExcessProperty: "error" })
const decodeQueued = Schema.decodeUnknownSync(QueuedMessage, { onExcessProperty: "error" })

describe("the queue", () => {
  it("is a bare array in the order in which it would run", async () => {
    const threadId = await makeThread(alpha, agentId)
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${threadId}/queue`)).body, [])
    const a = await submit(alpha, threadId, "/wait 10s\nA")
    const inputs = [
      await submit(alpha, threadId, "Q1"),
      await submit(alpha, threadId, "S1", { mode: "steer" }),
      await submit(alpha, threadId, "Q2", { model: "troupe/scripted-paid" }),
      await submit(alpha, threadId, "S2", { mode: "steer" })
    ]
    assert.deepStrictEqual(
      inputs.map(({ state }) => state),
      ["queued", "steered", "queued", "steered"]
    )
    const { body } = await alpha.get(`/v1/threads/${threadId}/queue`)
    const queue = (body as ReadonlyArray<unknown>).map((item) => decodeQueued(item))
    assert.deepStrictEqual(
      queue.map(({ id }) => id),
      [inputs[1].id, inputs[3].id, inputs[0].id, inputs[2].id]
    )
    assert.deepStrictEqual(
      queue.map(({ turnId }) => turnId),
      [a.turnId, a.turnId, inputs[0].turnId, inputs[2].turnId]
    )
    assert.strictEqual(queue[3]!.model, "troupe/scripted-paid")
    await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${threadId}/queue`)).body, [])
  })

  it("holds 100 inputs, and refuses one more with the time to wait", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 10s\nA")
    for (let i = 0; i < 100; i++) await submit(alpha, threadId, `Q${i}`)
    for (const mode of ["queue", "steer"]) {
      const refused = await send(threadId, { content: text("too many"), mode })
      assertRefused(refused, 429, "queue_full")
      assert.isAbove(refused.body.retryAfterSeconds, 0)
    }
    assert.lengthOf((await alpha.get(`/v1/threads/${threadId}/queue`)).body, 100)
    await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
  })

  it("tells what became of an input: queued, steered, admitted with its seq, cancelled", async () => {
    const threadId = await makeThread(alpha, agentId)
    const get = async (id: string) => {
      const answer = await alpha.get(`/v1/threads/${threadId}/queue/${id}`)
      assert.strictEqual(answer.status, 200, answer.text)
      return decodeRecord(answer.body)
    }
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q", { model: "troupe/scripted-paid" })
    const s = await submit(alpha, threadId, "S", { mode: "steer" })
    const x = await submit(alpha, threadId, "X")
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}/queue/${x.id}`)).status, 204)
    const { state: _, seq: __, ...admitted } = a
    assert.deepStrictEqual(await get(a.id), { ...admitted, state: "admitted", seq: 1 })
    assert.deepStrictEqual(await get(q.id), q)
    assert.deepStrictEqual(await get(s.id), s)
    assert.deepStrictEqual(await get(x.id), { ...x, state: "cancelled" })
    const log = await logOf(alpha, threadId, ended(2))
    const at = (id: string) => log.find(({ inputId }) => inputId === id)!
    const [doneQ, doneS] = [await get(q.id), await get(s.id)]
    assert.deepInclude(doneQ, {
      state: "admitted",
      seq: at(q.id).seq,
      turnId: q.turnId,
      model: "troupe/scripted-paid",
      submitMode: "queue"
    })
    assert.deepInclude(doneS, { state: "admitted", seq: at(s.id).seq, turnId: a.turnId, submitMode: "steer" })
    assert.deepStrictEqual([doneQ.queuedAt, doneS.queuedAt], [q.queuedAt, s.queuedAt])
  })

  it("edits what waits, and only that", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const edited = await alpha.patch(path(q.id), { content: text("edited \u0000") })
    assert.strictEqual(edited.status, 200, edited.text)
    const { state: _, ...queued } = q
    assert.deepStrictEqual(decodeQueued(edited.body), { ...queued, content: text("edited \u0000") })
    assertInvalid(await alpha.patch(path(q.id), {}), "content")
    assertInvalid(await alpha.patch(path(q.id), { content: [] }), "content")
    assertInvalid(await alpha.patch(path(q.id), { content: text("x"), mode: "steer" }), "mode")
    assertInvalid(await alpha.patch(path(q.id), { content: text("a".repeat(8193)) }), "content")
    assertRefused(await alpha.patch(path(q.id), { content: [image("a")] }), 422, "image_not_found")
    const refused = await alpha.patch(path(a.id), { content: text("late") })
    assertRefused(refused, 409, "input_not_pending")
    assert.include(refused.body.message, a.turnId)
    assertRefused(await alpha.patch(path(`inp_${"0".repeat(26)}`), { content: text("x") }), 404, "not_found")
    assertRefused(await alpha.patch(path("inp_1"), { content: text("x") }), 404, "not_found")
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(log.find(({ inputId }) => inputId === q.id)!.content, text("edited \u0000"))
    const late = await alpha.patch(path(q.id), { content: text("late") })
    assertRefused(late, 409, "input_not_pending")
    assert.include(late.body.message, q.turnId)
  })

  it("lets go of what waits, and says so again", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const removed = await alpha.delete(path(q.id))
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    assert.strictEqual((await alpha.delete(path(q.id))).status, 204)
    assertRefused(await alpha.delete(path(a.id)), 409, "input_not_pending")
    assertRefused(await alpha.delete(path(`inp_${"0".repeat(26)}`)), 404, "not_found")
    const log = await logOf(alpha, threadId, ended(1))
    assert.deepStrictEqual(
      log.map(({ type }) => type),
      ["user_message", "assistant_message", "turn_completed"]
    )
  })

  it("promotes to a steer, which the running turn takes", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}/promote`
    const a = await submit(alpha, threadId, "/wait 300ms\nA")
    const q = await submit(alpha, threadId, "Q")
    const m = await submit(alpha, threadId, "M", { model: "troupe/scripted-paid" })
    assertRefused(await alpha.post(path(m.id), { mode: "steer" }), 400, "model_not_allowed_with_steer")
    assertRefused(
      await alpha.post(path(q.id), { mode: "steer", expectedTurnId: `trn_${"0".repeat(26)}` }),
      409,
      "turn_conflict"
    )
    assertInvalid(await alpha.post(path(q.id), {}), "mode")
    assertInvalid(await alpha.post(path(q.id), { mode: "queue" }), "mode")
    const promoted = await alpha.post(path(q.id), { mode: "steer", expectedTurnId: a.turnId })
    assert.strictEqual(promoted.status, 200, promoted.text)
    assert.deepInclude(decodeSubmitted(promoted.body), {
      id: q.id,
      state: "steered",
      submitMode: "steer",
      turnId: a.turnId
    })
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(
      log.map(({ inputId, type }) => inputId ?? type),
      [
        a.id,
        "assistant_message",
        q.id,
        "assistant_message",
        "turn_completed",
        m.id,
        "assistant_message",
        "turn_completed"
      ]
    )
    assertRefused(await alpha.post(path(q.id), { mode: "steer" }), 409, "input_not_pending")
    assertRefused(await alpha.post(path(`inp_${"0".repeat(26)}`), { mode: "steer" }), 404, "not_found")
  })

  it("promotes to an interrupt, which goes first", async () => {
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/wait 10s\nA")
    const q1 = await submit(alpha, threadId, "Q1")
    const q2 = await submit(alpha, threadId, "Q2")
    const promoted = await alpha.post(`/v1/threads/${threadId}/queue/${q2.id}/promote`, { mode: "interrupt" })
    assert.strictEqual(promoted.status, 200, promoted.text)
    const log = await logOf(alpha, threadId, ended(3))
    assert.deepStrictEqual(
      log.filter(({ type }) => type === "user_message").map(({ inputId }) => inputId),
      [a.id, q2.id, q1.id]
    )
    assert.deepInclude(promoted.body, { state: "admitted", seq: 3, submitMode: "interrupt" })
  })

  it("is the thread's own: an input of another thread is unknown", async () => {
    const [quiet, busy] = [await makeThread(alpha, agentId), await makeThread(alpha, agentId)]
    await submit(alpha, busy, "/wait 600s\nbusy")
    const q = await submit(alpha, busy, "Q")
    assertRefused(await alpha.get(`/v1/threads/${quiet}/queue/${q.id}`), 404, "not_found")
    assertRefused(await alpha.patch(`/v1/threads/${quiet}/queue/${q.id}`, { content: text("x") }), 404, "not_found")
    assertRefused(await alpha.delete(`/v1/threads/${quiet}/queue/${q.id}`), 404, "not_found")
    assertRefused(await alpha.post(`/v1/threads/${quiet}/queue/${q.id}/promote`, { mode: "steer" }), 404, "not_found")
    assertRefused(await server.beta.get(`/v1/threads/${busy}/queue/${q.id}`), 404, "not_found")
    assert.strictEqual((await alpha.get(`/v1/threads/${busy}/queue/${q.id}`)).body.state, "queued")
  })
})
