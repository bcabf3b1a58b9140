/** Waits over HTTP as they are read, and refused in every way that the contract names. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Threads } from "../../actors/thread/Threads.ts"
import { limits } from "../../src/domain/limits.ts"
import { absent, assertRefused, assertRefusedAt } from "./refusals.ts"
import { Watcher } from "./sse.ts"
import { submit } from "./threadFixture.ts"
import { waitsOf } from "./toolFixture.ts"
import { answer, decision, failed, pathOf, resolved, result } from "./waitFixture.ts"
import { deskStand } from "./deskFixture.ts"

const { asked, desk, detail, done, owed, say, server } = await deskStand()

describe.concurrent("a wait", () => {
  it("is for one type of answer, also when it is over", async () => {
    const [call, ask] = [await owed(), await asked()]
    for (let i = 0; i < 2; i++) {
      assertRefused(await say(call.threadId, call.wait, decision("allow")), 400, "wait_type_mismatch")
      assertRefused(await say(ask.threadId, ask.wait, result(1)), 400, "wait_type_mismatch")
      await say(call.threadId, call.wait, result(1))
      await say(ask.threadId, ask.wait, decision("deny"))
    }
  })

  it("is nobody else's: unknown, of another thread, of another workspace, without its form", async () => {
    const [{ threadId, wait }, other] = [await asked(), await asked()]
    const nowhere = { ...wait, id: absent("wait_") }
    for (const path of [
      pathOf(threadId, nowhere),
      pathOf(other.threadId, wait),
      pathOf(absent("thr_"), wait),
      pathOf(threadId, { id: "wait_x" })
    ]) {
      assertRefused(await server.alpha.get(path), 404, "not_found")
      assertRefused(await server.alpha.post(`${path}/resolve`, decision("allow")), 404, "not_found")
    }
    assertRefused(await server.beta.get(pathOf(threadId, wait)), 404, "not_found")
    assertRefused(await answer(server.beta, threadId, wait, decision("allow")), 404, "not_found")
    assert.deepStrictEqual((await detail(threadId)).inFlightWaitIds, [wait.id])
  })

  it("is answered by who may: approve for decisions, run for results", async () => {
    const client = (...scopes: ReadonlyArray<"read" | "run" | "write" | "approve" | "admin">) =>
      server.client(server.workspaces.alpha, { scopes })
    const [call, ask] = [await owed(), await asked()]
    for (const scopes of [["read", "run", "write", "admin"], ["run"]] as const) {
      const refused = await answer(await client(...scopes), ask.threadId, ask.wait, decision("allow"))
      assertRefused(refused, 403, "permission_denied")
      assert.strictEqual(refused.body.code, "missing_scope")
    }
    for (const scopes of [["read", "approve", "write", "admin"], ["approve"]] as const) {
      assertRefused(
        await answer(await client(...scopes), call.threadId, call.wait, result(1)),
        403,
        "permission_denied"
      )
    }
    assertRefused(
      await answer(await client("read", "write", "admin"), call.threadId, call.wait, result(1)),
      403,
      "permission_denied"
    )
    assertRefused(await (await client("approve", "run")).get(pathOf(ask.threadId, ask.wait)), 403, "permission_denied")
    assert.strictEqual((await answer(await client("approve"), ask.threadId, ask.wait, decision("deny"))).status, 200)
    assert.strictEqual((await answer(await client("run"), call.threadId, call.wait, result(1))).status, 200)
  })

  it("is not resolved by the agent that waits, nor from its own thread", async () => {
    const { threadId, wait } = await asked()
    const { agentId } = (await detail(threadId)).thread
    const as = (id: string, from?: string) =>
      server.runtime.runPromise(
        Effect.result(
          Threads.use((threads) =>
            threads.resolve(
              {
                workspace: server.workspaces.alpha,
                principal: { type: "agent", id },
                ...(from !== undefined && { from })
              },
              threadId,
              wait.id,
              { type: "decision", decision: "allow" }
            )
          )
        )
      )
    for (const refused of [await as(agentId), await as(desk.plain, threadId)]) {
      assert.deepInclude(refused, { _tag: "Failure" })
      if (refused._tag === "Failure")
        assert.deepInclude(refused.failure, { _tag: "Refused", reason: "permission_denied" })
    }
    const other = await as(desk.plain)
    assert.strictEqual(other._tag, "Success")
    assert.deepInclude((await server.alpha.get(pathOf(threadId, wait))).body.wait.waitResult, {
      outcome: "allow",
      by: { type: "agent", id: desk.plain }
    })
  })

  const at = limits.hookReasonBytes
  const bad: ReadonlyArray<readonly [string, unknown, string]> = [
    ["nothing", {}, "the body"],
    ["another type", { type: "elicitation", action: "accept" }, "the body"],
    ["no decision", { type: "decision" }, "decision"],
    ["another decision", { type: "decision", decision: "ask" }, "decision"],
    ["a reason of 1025 bytes", decision("allow", { reason: "é".repeat(at / 2) + "x" }), "reason"],
    ["another scope", decision("allow", { scope: "workspace" }), "scope"],
    ["a deny for the thread", decision("deny", { scope: "thread" }), "scope"],
    ["a deny that rewrites", decision("deny", { rewrite: { toolInput: {} } }), "rewrite"],
    ["an empty rewrite", decision("allow", { rewrite: {} }), "rewrite"],
    ["a rewrite of two things", decision("allow", { rewrite: { toolInput: {}, toolOutput: 1 } }), "rewrite"],
    ["a rewrite of something else", decision("allow", { rewrite: { toolName: "x" } }), "rewrite.toolName"],
    [
      "41 blocks",
      decision("allow", { rewrite: { content: Array.from({ length: 41 }, () => ({ type: "text", text: "x" })) } }),
      "rewrite.content"
    ],
    [
      "a blank block",
      decision("allow", { rewrite: { content: [{ type: "text", text: " " }] } }),
      "rewrite.content[0].text"
    ],
    ["a decision with an output", decision("allow", { output: 1 }), "output"],
    ["neither output nor error", { type: "tool_result" }, "the body"],
    ["output and error", { ...failed("c", "m"), output: 1 }, "the body"],
    ["an error without a message", { type: "tool_result", error: { code: "c" } }, "error.message"],
    ["an error with more", { type: "tool_result", error: { code: "c", message: "m", stack: "s" } }, "error.stack"],
    ["an empty code", failed("", "m"), "error.code"],
    ["a code of 65", failed("c".repeat(65), "m"), "error.code"],
    ["a code with a space", failed("no paper", "m"), "error.code"],
    ["an empty message", failed("c", ""), "error.message"],
    ["a message of 4097 bytes", failed("c", "m".repeat(limits.toolErrorBytes + 1)), "error.message"],
    ["a result with a decision", { ...result(1), decision: "allow" }, "decision"],
    ["a number that JSON cannot say again", `{"type":"tool_result","output":{"a":[1e308,-1e400]}}`, "output"],
    [
      "the same in a rewrite",
      `{"type":"decision","decision":"allow","rewrite":{"toolInput":1e400}}`,
      "rewrite.toolInput"
    ],
    ["a list", [], "the body"]
  ]
  it("takes nothing but an answer, and says where it is wrong", async () => {
    const { threadId, wait } = await asked()
    for (const [what, body, path] of bad) {
      const refused = await server.alpha.send("POST", `${pathOf(threadId, wait)}/resolve`, body)
      assert.deepStrictEqual(
        [refused.status, refused.body?.error, refused.body?.message.split(":")[0]],
        [400, "invalid_request", path],
        `${what} ${refused.text}`
      )
    }
    assertRefusedAt(
      await server.alpha.post(`${pathOf(threadId, wait)}/resolve?scope=thread`, decision("allow")),
      400,
      "invalid_request",
      "scope"
    )
    assert.strictEqual((await detail(threadId)).status, "awaiting")
    await resolved(server.alpha, threadId, wait, decision("allow", { reason: "é".repeat(at / 2) }))
    const [next] = await waitsOf(server.alpha, threadId)
    await resolved(server.alpha, threadId, next!, failed("c".repeat(64), "m".repeat(limits.toolErrorBytes)))
  })
})

describe("waits are seen", () => {
  it("in Thread detail and among the threads that wait, for persons and clients", async () => {
    const { threadId, wait } = await asked()
    const { inFlightWaitIds, pendingWaits, status, thread } = await detail(threadId)
    assert.deepStrictEqual([status, inFlightWaitIds, pendingWaits], ["awaiting", [wait.id], [wait]])
    const waiting = async () =>
      (await server.alpha.get(`/v1/threads?state=waiting&agentId=${thread.agentId}&limit=200`)).body
        .threads as ReadonlyArray<{ readonly thread: { readonly id: string }; readonly [field: string]: unknown }>
    const row = (await waiting()).find((found) => found.thread.id === threadId)
    assert.deepStrictEqual([row?.status, row?.pendingWaits], ["awaiting", pendingWaits])
    await resolved(server.alpha, threadId, wait, decision("deny"))
    await done(threadId)
    assert.notInclude(
      (await waiting()).map((found) => found.thread.id),
      threadId
    )
    assert.deepStrictEqual((await detail(threadId)).inFlightWaitIds, [])
    assertRefusedAt(await server.alpha.get("/v1/threads?state=awaiting"), 400, "invalid_request", "state")
  })

  it("on the streams of thread, agent and workspace, as they open and as they end", async () => {
    const { threadId } = await owed()
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const token = server.alpha.token ?? ""
    const watchers = await Promise.all(
      [
        `/v1/threads/${threadId}/events/stream?types=wait`,
        `/v1/agents/${desk.plain}/events/stream?types=wait`,
        "/v1/events/stream?types=wait,status"
      ].map((path) => Watcher.open(server.base, path, token))
    )
    try {
      for (const watcher of watchers) await watcher.until((seen) => seen.events("ready").length === 1)
      await submit(server.alpha, threadId, desk.tool("print"))
      const [wait] = await waitsOf(server.alpha, threadId)
      await resolved(server.alpha, threadId, wait!, result(1))
      for (const watcher of watchers) {
        const mine = () =>
          watcher
            .events("wait")
            .map(({ data }) => data)
            .filter((data) => data.threadId === threadId)
        await watcher.until(() => mine().length >= 2)
        assert.deepStrictEqual(
          mine(),
          ["open", "resolved"].map((state) => ({ threadId, waitId: wait!.id, state, target: "client" }))
        )
      }
      const statuses = () =>
        watchers[2]!
          .events("status")
          .map(({ data }) => data)
          .filter((data) => data.threadId === threadId)
          .map(({ status }) => status)
      await watchers[2]!.until(() => statuses().at(-1) === "idle")
      assert.deepStrictEqual(statuses(), ["running", "awaiting", "running", "idle"])
    } finally {
      for (const watcher of watchers) watcher.close()
    }
  })
})
