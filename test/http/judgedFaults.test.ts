/** Endpoints of hooks that answer badly, late, never, or from elsewhere. */
import { assert, describe, it } from "@effect/vitest"
import {
  allow,
  garbage,
  hang,
  json,
  nothing,
  redirect,
  type Reply,
  rewrite,
  status,
  text
} from "../hooks/hookServer.ts"
import { ended, logOf } from "./threadFixture.ts"
import { begin, only, resolveWait, told, turnOf, waitsOf } from "./toolFixture.ts"
import { points, ranOnce, told1, judgedStand } from "./judgedFixture.ts"

const { executed, hook, hooks, script, server, worker } = await judgedStand()

describe.concurrent("a hook's endpoint", () => {
  const faults: ReadonlyArray<readonly [fault: string, reply: () => Reply]> = [
    ["answers with garbage", garbage],
    ["answers with a decision that there is not", () => json({ decision: "maybe" })],
    ["answers with more than is asked", () => allow({ extra: 1 })],
    ["answers with a rewrite for another point", () => rewrite({ somethingElse: 1 })],
    ["answers with an HTML page", () => text("<html>")],
    ["answers 500", () => status(500)],
    ["answers 404", () => status(404)],
    ["redirects to loopback", () => (response, received) => redirect(hooks.canaryUrl)(response, received)],
    ["closes the connection", nothing],
    ["never answers", hang]
  ]
  for (const point of points) {
    for (const [fault, reply] of faults) {
      it(`at ${point} that ${fault}: hook_failed, or an allow, or an ask, as onError says`, async () => {
        const threads = await Promise.all(
          (["deny", "allow", "ask"] as const).map(async (onError) =>
            begin(server.alpha, await worker(hook(point, reply(), { timeoutMs: 1_000, onError })), ...script())
          )
        )
        const [denied, allowed, asked] = await Promise.all(
          threads.map(async (threadId, i) => {
            if (i === 2) {
              const [wait] = await waitsOf(server.alpha, threadId)
              assert.deepInclude(wait, { type: "hook_ask", target: "person" })
              await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
            }
            return await logOf(server.alpha, threadId, ended(1))
          })
        )
        assert.deepStrictEqual(told(denied!), told1(point, ["hook_decision: deny"], "hook_failed"))
        assert.deepStrictEqual(executed(denied!), ranOnce(point, true))
        assert.deepStrictEqual(told(allowed!), told1(point, ["hook_decision: allow"]))
        assert.deepStrictEqual(
          told(asked!),
          told1(point, ["hook_decision: ask", "wait_created", "wait_resolved: allow"])
        )
        for (const log of [allowed!, asked!]) assert.deepStrictEqual(executed(log), [{ text: "hello" }])
      })
    }

    it(`at ${point} that fails: without an onError, before is a deny and after an allow`, async () => {
      const log = await turnOf(server.alpha, await worker(hook(point, garbage())), ...script())
      assert.deepStrictEqual(
        told(log),
        point.startsWith("before_")
          ? told1(point, ["hook_decision: deny"], "hook_failed")
          : told1(point, ["hook_decision: allow"])
      )
    })
  }

  it("is asked once more under the same id when it was busy, and its answer counts", async () => {
    let times = 0
    const { received, url } = hooks.endpoint((response, one) => (times++ === 0 ? status(503) : allow())(response, one))
    const log = await turnOf(
      server.alpha,
      await worker({ name: "H", point: "before_tool_call", processor: { type: "url", url } }),
      ...script()
    )
    assert.deepStrictEqual(told(log), told1("before_tool_call", ["hook_decision: allow"]))
    const hookTold = only(log, "hook_decision")[0]!.hook
    assert.deepStrictEqual(
      received().map(({ body, headers }) => [body.attempt, headers["webhook-id"]]),
      [1, 2].map((attempt) => [attempt, received()[0]?.body.deliveryId])
    )
    assert.deepInclude(hookTold, { deliveryId: received()[0]?.body.deliveryId })
  })
})

describe.concurrent("a redirect to loopback", () => {
  it("is followed by nobody", async () => {
    await turnOf(server.alpha, await worker(hook("before_tool_call", redirect(hooks.canaryUrl))), ...script())
    assert.strictEqual(hooks.canary(), 0)
  })
})
