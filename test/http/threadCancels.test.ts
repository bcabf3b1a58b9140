/** Turns that are cancelled, and turns that are tried again. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { decodeDetail, makeDetailTools } from "./threadDetailFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const { detailOf } = makeDetailTools(server)

describe("cancelling", () => {
  it("ends the running turn; what waits still runs", async () => {
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/wait 5s\nA")
    await submit(alpha, threadId, "Q")
    const cancelled = await alpha.post(`/v1/threads/${threadId}/cancel`, { turnId: a.turnId })
    assert.strictEqual(cancelled.status, 200, cancelled.text)
    assert.strictEqual(decodeDetail(cancelled.body).status, "running")
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(
      log.map(({ type }) => type),
      ["user_message", "turn_cancelled", "user_message", "assistant_message", "turn_completed"]
    )
    assert.strictEqual((log[1]!.principal as { type: string }).type, "api_key")
  })

  it("clears the queue when told so", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 5s\nA")
    const q = await submit(alpha, threadId, "Q")
    const cancelled = await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    assert.deepInclude(cancelled.body, { status: "cancelled", queued: [], lastSeq: 2 })
    const input = await alpha.get(`/v1/threads/${threadId}/queue/${q.id}`)
    assert.deepInclude(input.body, { id: q.id, state: "cancelled", content: text("Q") })
  })

  it("at rest changes nothing, and a body is not needed", async () => {
    const threadId = await makeThread(alpha, agentId)
    const before = await detailOf(threadId)
    const response = await fetch(`${server.base}/v1/threads/${threadId}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${alpha.token}` }
    })
    assert.strictEqual(response.status, 200)
    const { budgetSpend: _, ...after } = await detailOf(threadId)
    const { budgetSpend: __, ...was } = before
    assert.deepStrictEqual(after, was)
  })

  it("refuses a turn that is not the active one", async () => {
    const threadId = await makeThread(alpha, agentId)
    const turnId = `trn_${"0".repeat(26)}`
    assertRefused(await alpha.post(`/v1/threads/${threadId}/cancel`, { turnId }), 409, "turn_conflict")
    const a = await submit(alpha, threadId, "/wait 5s\nA")
    const refused = await alpha.post(`/v1/threads/${threadId}/cancel`, { turnId })
    assertRefused(refused, 409, "turn_conflict")
    assert.include(refused.body.message, a.turnId)
    assertInvalid(await alpha.post(`/v1/threads/${threadId}/cancel`, { turnId: "trn_1" }), "turnId")
    assertInvalid(await alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: "yes" }), "clearQueue")
    await alpha.post(`/v1/threads/${threadId}/cancel`)
  })
})

describe("retrying", () => {
  it("sends the first message of a failed turn again, and the prompt leaves the failed turn out", async () => {
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/fail model_error broken")
    await logOf(alpha, threadId, ended(1))
    assert.strictEqual((await detailOf(threadId)).status, "failed")
    const retried = await alpha.post(`/v1/threads/${threadId}/retry`)
    assert.strictEqual(retried.status, 201, retried.text)
    assert.notStrictEqual(retried.body.id, a.id)
    assert.deepInclude(retried.body, {
      state: "admitted",
      content: text("/fail model_error broken"),
      submitMode: "queue"
    })
    assert.strictEqual(retried.headers.get("location"), `/v1/threads/${threadId}/queue/${retried.body.id}`)
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepStrictEqual(
      log.map(({ type }) => type),
      ["user_message", "turn_failed", "user_message", "turn_failed"]
    )
    assert.strictEqual(log[1]!.failureCode, "model_error")
  })

  it("is refused with 409 when there is nothing to retry, and while a turn runs", async () => {
    const threadId = await makeThread(alpha, agentId)
    assertRefused(await alpha.post(`/v1/threads/${threadId}/retry`), 409, "nothing_to_retry")
    await submit(alpha, threadId, "fine")
    await logOf(alpha, threadId, ended(1))
    assertRefused(await alpha.post(`/v1/threads/${threadId}/retry`), 409, "nothing_to_retry")
    await submit(alpha, threadId, "/wait 5s\nA")
    assertRefused(await alpha.post(`/v1/threads/${threadId}/retry`), 409, "nothing_to_retry")
    await alpha.post(`/v1/threads/${threadId}/cancel`)
    assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
    await alpha.post(`/v1/threads/${threadId}/cancel`)
  })
})
