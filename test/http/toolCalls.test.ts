/**
 * Workers that execute a client's tools: they find the calls that they owe, oldest first, and answer by the call's id.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { pages } from "../../src/domain/limits.ts"
import { sharedServer } from "../setup/server.ts"
import { absent, assertRefused, assertRefusedAt } from "./refusals.ts"
import { ended, logOf } from "./threadFixture.ts"
import { assertSound, only, outcomes, waitsOf } from "./toolFixture.ts"
import { decision, failed, furnish, parked, resolved, result } from "./waitFixture.ts"

const server = await sharedServer()
const desk = await furnish(server.alpha, "desk")
const other = await furnish(server.alpha, "other")
afterAll(() => assertSound(server))

interface Call {
  readonly waitId: string
  readonly toolCallId: string
  readonly threadId: string
  readonly [field: string]: unknown
}

const calls = async (query = ""): Promise<{ readonly calls: ReadonlyArray<Call>; readonly nextCursor?: string }> => {
  const answer = await server.alpha.get(`/v1/tools/calls${query}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body
}
const give = (toolCallId: string, body: object, headers?: Record<string, string>) =>
  server.alpha.post(`/v1/tools/calls/${toolCallId}/result`, body, headers)
const ids = ({ calls }: { readonly calls: ReadonlyArray<Call> }) => calls.map(({ toolCallId }) => toolCallId)

describe("the calls that clients owe", () => {
  it("say all that a worker needs, and are gone once they are answered", async () => {
    const { threadId, wait } = await parked(server.alpha, desk.plain, [desk.tool("print", { document: "a" })])
    const [call] = (await calls("?state=pending")).calls.filter((one) => one.threadId === threadId)
    assert.isString(call?.createdAt)
    assert.deepStrictEqual(call, {
      waitId: wait.id,
      threadId,
      agentId: desk.plain,
      turnId: wait.turnId,
      toolCallId: wait.toolCallId,
      toolName: "desk.print",
      toolInput: { document: "a" },
      toolsetId: desk.toolsetId,
      createdAt: call?.createdAt,
      expiresAt: wait.expiresAt
    })
    const done = await give(wait.toolCallId, { output: { pages: 1 } })
    assert.deepStrictEqual(
      [done.status, done.body.wait.waitResult.output, done.body.wait.id],
      [200, { pages: 1 }, wait.id]
    )
    assert.notInclude(ids(await calls()), wait.toolCallId)
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), [{ pages: 1 }])
  })

  it("come oldest first, in pages, of one toolset where that is asked for", async () => {
    const made: Array<string> = []
    for (let i = 0; i < 3; i++) {
      for (const { plain, tool } of [desk, other]) {
        // Two at the same moment, each time: their ids decide.
        const { waits } = await parked(
          server.alpha,
          plain,
          [tool("print", { document: `${i}a` }), tool("sign", { document: `${i}b` })],
          2
        )
        made.push(...waits.map(({ toolCallId }) => toolCallId))
      }
    }
    assert.deepStrictEqual(ids(await calls()), made)
    const mine = ids(await calls(`?toolsetId=${desk.toolsetId}`))
    assert.deepStrictEqual(
      mine,
      made.filter((_, i) => i % 4 < 2)
    )
    for (const [filter, all] of [
      ["", made],
      [`&toolsetId=${desk.toolsetId}`, mine]
    ] as const) {
      const seen: Array<string> = []
      for (let cursor = ""; ; ) {
        const page = await calls(`?limit=5${filter}${cursor}`)
        assert.isAtMost(page.calls.length, 5)
        seen.push(...ids(page))
        if (page.nextCursor === undefined) break
        cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
      }
      assert.deepStrictEqual(seen, all)
    }
    // The filter is the cursor's; another one is refused.
    const { nextCursor = "" } = await calls(`?limit=1&toolsetId=${desk.toolsetId}`)
    assert.deepStrictEqual(ids(await calls(`?limit=1&cursor=${encodeURIComponent(nextCursor)}`)), [mine[1]])
    const refused = await server.alpha.get(
      `/v1/tools/calls?toolsetId=${other.toolsetId}&cursor=${encodeURIComponent(nextCursor)}`
    )
    assertRefusedAt(refused, 400, "invalid_request", "cursor")
    assertRefusedAt(
      await server.beta.get(`/v1/tools/calls?cursor=${encodeURIComponent(nextCursor)}`),
      400,
      "invalid_request",
      "cursor"
    )
    assert.deepStrictEqual((await server.beta.get("/v1/tools/calls")).body, { calls: [] })
    assert.deepStrictEqual(await calls(`?toolsetId=${absent("tset_")}`), { calls: [] })
    for (const toolCallId of made) assert.strictEqual((await give(toolCallId, { output: {} })).status, 200)
  })

  it("are 50 a page, and 200 at most", async () => {
    assert.deepStrictEqual(pages.toolCalls, [50, 200])
    const lines = Array.from({ length: 51 }, (_, i) => desk.tool("print", { document: String(i) }))
    await parked(server.alpha, desk.plain, lines, 51)
    assert.lengthOf((await calls()).calls, 50)
    assert.isAtLeast((await calls("?limit=200")).calls.length, 51)
    for (const limit of ["0", "201", "x", ""])
      assertRefusedAt(await server.alpha.get(`/v1/tools/calls?limit=${limit}`), 400, "invalid_request", "limit")
    for (const [name, value] of [
      ["state", "resolved"],
      ["state", "open"],
      ["state", ""],
      ["toolsetId", "desk"],
      ["threadId", "x"]
    ] as const) {
      assertRefusedAt(await server.alpha.get(`/v1/tools/calls?${name}=${value}`), 400, "invalid_request", name)
    }
  })

  it("are none of those that somebody has still to decide about: a result for one of these is told what the wait is for", async () => {
    const { threadId, wait } = await parked(server.alpha, desk.asked, [desk.tool("sign")])
    assert.notInclude(ids(await calls("?limit=200")), wait.toolCallId)
    for (const body of [{ output: 1 }, { error: { code: "jam", message: "Paper jam" } }]) {
      assertRefused(await give(wait.toolCallId, body), 400, "wait_type_mismatch")
      assertRefused(await server.beta.post(`/v1/tools/calls/${wait.toolCallId}/result`, body), 404, "not_found")
    }
    await resolved(server.alpha, threadId, wait, decision("allow"))
    await waitsOf(server.alpha, threadId)
    assert.include(ids(await calls("?limit=200")), wait.toolCallId)
    assert.strictEqual((await give(wait.toolCallId, { output: 1 })).status, 200)
  })

  it("are read with read, and answered with run", async () => {
    const { wait } = await parked(server.alpha, desk.plain, [desk.tool("print")])
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
    const runner = await server.client(server.workspaces.alpha, { scopes: ["run"] })
    assert.strictEqual((await reader.get("/v1/tools/calls")).status, 200)
    assertRefused(await runner.get("/v1/tools/calls"), 403, "permission_denied")
    assertRefused(
      await reader.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: 1 }),
      403,
      "permission_denied"
    )
    assert.strictEqual((await runner.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: 1 })).status, 200)
  })
})

describe.concurrent("the result of a call", () => {
  it("is the same as the answer to its wait", async () => {
    const { threadId, wait } = await parked(server.alpha, desk.plain, [desk.tool("print")])
    const one = await give(wait.toolCallId, { error: { code: "jam", message: "Paper jam" } })
    assert.strictEqual(one.status, 200, one.text)
    const again = await resolved(server.alpha, threadId, wait, failed("jam", "Paper jam"))
    assert.deepStrictEqual(again, one.body)
    assert.strictEqual((await give(wait.toolCallId, { error: { code: "jam", message: "Paper jam" } })).text, one.text)
    assertRefused(await give(wait.toolCallId, { output: null }), 409, "wait_already_resolved")
    const [said] = only(await logOf(server.alpha, threadId, ended(1)), "tool_result")
    assert.deepStrictEqual([said?.failureCode, said?.failureText], ["tool_error", "jam: Paper jam"])
  })

  it("comes too late for a turn that was stopped", async () => {
    const { threadId, wait } = await parked(server.alpha, desk.plain, [desk.tool("print")])
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const late = await give(wait.toolCallId, { output: 1 })
    assertRefused(late, 409, "wait_already_resolved")
    assert.strictEqual(late.body.code, "cancelled")
    assert.notInclude(ids(await calls("?limit=200")), wait.toolCallId)
  })

  it("is one of several workers', whoever is first", async () => {
    const { wait } = await parked(server.alpha, desk.plain, [desk.tool("print")])
    const workers = await Promise.all(Array.from({ length: 5 }, () => server.client(server.workspaces.alpha)))
    const answers = await Promise.all(
      workers.map((worker, by) => worker.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: { by } }))
    )
    assert.sameMembers(
      answers.map(({ status }) => status),
      [200, 409, 409, 409, 409]
    )
  })

  it("under an Idempotency-Key is given once", async () => {
    const { wait } = await parked(server.alpha, desk.plain, [desk.tool("print")])
    const [one, two] = [
      await give(wait.toolCallId, { output: 1 }, { "idempotency-key": "r" }),
      await give(wait.toolCallId, { output: 1 }, { "idempotency-key": "r" })
    ]
    assert.deepStrictEqual(
      [one.status, two.status, two.text, two.headers.get("idempotency-replayed")],
      [200, 200, one.text, "true"]
    )
    assertRefused(await give(wait.toolCallId, { output: 2 }, { "idempotency-key": "r" }), 422, "idempotency_key_reused")
  })

  it("is exactly one of output and error, of a call that is there", async () => {
    const { wait } = await parked(server.alpha, desk.plain, [desk.tool("stamp")])
    for (const [body, path] of [
      [{}, "the body"],
      [{ output: 1, error: { code: "c", message: "m" } }, "the body"],
      [{ type: "tool_result", output: 1 }, "type"],
      [{ error: "no" }, "error"],
      [{ error: { code: "c", message: "m", retry: true } }, "error.retry"],
      [{ output: "one" }, "output"]
    ] as const)
      assertRefusedAt(await give(wait.toolCallId, body), 400, "invalid_request", path)
    assertRefused(await give(absent("call_"), { output: 1 }), 404, "not_found")
    assertRefused(await give("call_x", { output: 1 }), 404, "not_found")
    assertRefused(await server.beta.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: 1 }), 404, "not_found")
    assert.strictEqual((await give(wait.toolCallId, { output: 7 })).status, 200)
  })

  it("of a wait by its id takes decisions only where those are asked for", async () => {
    const call = await parked(server.alpha, desk.plain, [desk.tool("print")])
    assertRefused(
      await server.alpha.post(`/v1/hooks/waits/${call.wait.id}/resolve`, { decision: "allow" }),
      400,
      "wait_type_mismatch"
    )
    assertRefused(await server.alpha.post(`/v1/hooks/waits/${call.wait.id}/resolve`, result(1)), 400, "invalid_request")
    const ask = await parked(server.alpha, desk.asked, [desk.tool("sign")])
    const path = `/v1/hooks/waits/${ask.wait.id}/resolve`
    const runner = await server.client(server.workspaces.alpha, { scopes: ["read", "run", "write", "admin"] })
    assertRefused(await runner.post(path, { decision: "allow" }), 403, "permission_denied")
    assertRefused(await server.beta.post(path, { decision: "allow" }), 404, "not_found")
    assertRefused(
      await server.alpha.post(`/v1/hooks/waits/${absent("wait_")}/resolve`, { decision: "allow" }),
      404,
      "not_found"
    )
    assertRefusedAt(
      await server.alpha.post(path, { decision: "deny", scope: "thread" }),
      400,
      "invalid_request",
      "scope"
    )
    const one = await server.alpha.post(path, { decision: "allow", reason: "fine" })
    assert.deepStrictEqual([one.status, (await server.alpha.post(path, decision("allow"))).text], [200, one.text])
    assert.deepStrictEqual(await resolved(server.alpha, ask.threadId, ask.wait, decision("allow")), one.body)
    assertRefused(await server.alpha.post(path, { decision: "deny" }), 409, "wait_already_resolved")
  })
})
