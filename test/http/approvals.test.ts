/**
 * What an approval is good for: the grants that asked for it, the tool and the thread; nothing that a role says later.
 * Calls that a client executes are held to the same as those that run here.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { allow as allows, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  fresh,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  waitsOf
} from "./toolFixture.ts"

const server = await during(startServer({ leaseTtlMs: 20_000 }))
const hooks = await during(startHookServer())
const mcp = await during(startMcpServer({ tools: [{ name: "pay", run: () => "paid" }] }))
const toolset = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
const desk = await addToolset(server.alpha, {
  kind: "client",
  tools: [{ name: "pay", inputSchema: { type: "object", properties: { amount: { type: "number" } } } }]
})
afterAll(() => assertSound(server))

const allow = (more: object = {}) => ({ type: "decision", decision: "allow", ...more })
const forThread = allow({ scope: "thread" })
const grant = (op?: string, value?: number) => ({
  tools: `${toolset.namespace}.*`,
  approval: "required",
  ...(op !== undefined && { conditions: [{ path: "/amount", op, value }] })
})

/** A thread of an agent that pays under this role. */
const payer = async (...grants: ReadonlyArray<object>) => {
  const roleId = await addRole(server.alpha, { allow: grants })
  const agentId = await makeWorker(server.alpha, { toolsetIds: [toolset.id], roleIds: [roleId] })
  const threadId = await begin(server.alpha, agentId, "/say hello")
  await logOf(server.alpha, threadId, ended(1))
  let turns = 1
  const ask = async (amount: number) => {
    turns++
    const note = fresh("note")
    await submit(server.alpha, threadId, call(`${toolset.namespace}.pay`, { amount, note }))
    /** How often this very call has run. */
    return { runs: () => mcp.calls.filter(({ input }) => Object(input).note === note).length }
  }
  return {
    edit: async (...grants: ReadonlyArray<object>) =>
      assert.strictEqual((await server.alpha.patch(`/v1/roles/${roleId}`, { allow: grants })).status, 200),
    /** A turn whose call somebody is asked about, and what became of it. */
    asked: async (amount: number, answer: object, meanwhile: () => Promise<unknown> = async () => {}) => {
      const { runs } = await ask(amount)
      const [wait] = await waitsOf(server.alpha, threadId)
      assert.deepInclude(wait, { type: "role_approval", target: "person" })
      assert.strictEqual(runs(), 0)
      await meanwhile()
      await resolveWait(server.alpha, threadId, wait!.id, answer)
      return [outcomes(await logOf(server.alpha, threadId, ended(turns))).at(-1), runs()]
    },
    /** A turn whose call nobody is asked about. */
    free: async (amount: number) => {
      const { runs } = await ask(amount)
      return [outcomes(await logOf(server.alpha, threadId, ended(turns))).at(-1), runs()]
    }
  }
}

describe.concurrent("an approval for a whole thread", () => {
  it("is good for the grant that asked, whatever the input", async () => {
    const { asked, free } = await payer(grant("lte", 10))
    assert.deepStrictEqual(await asked(5, forThread), ["paid", 1])
    assert.deepStrictEqual(await free(7), ["paid", 1])
    assert.deepStrictEqual(await free(11), ["tool_denied", 0])
  })

  it("is not good for another grant that has come in its place", async () => {
    const { asked, edit, free } = await payer(grant("lte", 10))
    assert.deepStrictEqual(await asked(5, forThread), ["paid", 1])
    await edit(grant("gt", 10), grant("lte", 10))
    assert.deepStrictEqual(await asked(1000, allow()), ["paid", 1])
    assert.deepStrictEqual(await free(7), ["paid", 1])
    await edit(grant("lte", 20))
    assert.deepStrictEqual(await asked(5, allow()), ["paid", 1])
  })

  it("is not good for another grant that asks as well, until that was answered too", async () => {
    const { asked, free } = await payer(grant(), grant("gt", 10))
    assert.deepStrictEqual(await asked(5, forThread), ["paid", 1])
    assert.deepStrictEqual(await free(7), ["paid", 1])
    assert.deepStrictEqual(await asked(1000, allow()), ["paid", 1])
    assert.deepStrictEqual(await asked(1000, forThread), ["paid", 1])
    assert.deepStrictEqual(await free(1000), ["paid", 1])
  })

  it("of a call that several grants ask about is good for each of them", async () => {
    const { asked, free } = await payer(grant(), grant("gt", 10))
    assert.deepStrictEqual(await asked(1000, forThread), ["paid", 1])
    assert.deepStrictEqual(await free(5), ["paid", 1])
    assert.deepStrictEqual(await free(1000), ["paid", 1])
  })
})

describe.concurrent("an approval of a call", () => {
  it("is not good for what another grant asks by the time it is given", async () => {
    const { asked, edit } = await payer(grant("lte", 10))
    assert.deepStrictEqual(await asked(5, allow(), () => edit(grant("lt", 10))), ["tool_denied", 0])
  })

  it("is good for a grant that stands elsewhere in its role by then", async () => {
    const { asked, edit } = await payer(grant("lte", 10))
    assert.deepStrictEqual(await asked(5, allow(), () => edit(grant("gt", 10), grant("lte", 10))), ["paid", 1])
  })

  it("is not good once no role allows the call any more", async () => {
    const { asked, edit } = await payer(grant("lte", 10))
    assert.deepStrictEqual(await asked(5, allow(), () => edit(grant("gt", 10))), ["tool_denied", 0])
  })
})

describe.concurrent("a call that a client executes", () => {
  const limited = (value: number) => [
    { tools: `${desk.namespace}.*`, conditions: [{ path: "/amount", op: "lte", value }] }
  ]
  const payment = (profile: object) =>
    makeWorker(server.alpha, { toolsetIds: [desk.id], ...profile }).then((agentId) =>
      begin(server.alpha, agentId, call(`${desk.namespace}.pay`, { amount: 5 }))
    )
  const rewriting = (amount: unknown) => ({
    name: "more",
    point: "before_tool_call",
    processor: { type: "url", url: hooks.endpoint(rewrite({ toolInput: { amount } })).url }
  })
  const asking = (point: string, more: object = {}) => ({
    name: "asks",
    point,
    processor: { type: "client" },
    ...more,
    // Of responses only those that call, and say nothing.
    ...(point === "after_model_response" && {
      match: { conditions: [{ path: "/content/0", op: "exists", value: false }] }
    })
  })

  it("does not go there with an input that the roles deny, or that does not fit its schema", async () => {
    const roleIds = [await addRole(server.alpha, { allow: limited(10) })]
    for (const [amount, code, profile] of [
      [1000, "tool_denied", { roleIds }],
      ["7", "tool_input_invalid", {}]
    ] as const) {
      const log = await logOf(server.alpha, await payment({ ...profile, hooks: [rewriting(amount)] }), ended(1))
      assert.deepStrictEqual([outcomes(log), only(log, "wait_created")], [[code], []])
    }
    const [wait] = await waitsOf(server.alpha, await payment({ roleIds, hooks: [rewriting(7)] }))
    assert.deepInclude(wait, { type: "client_tool", toolInput: { amount: 7 } })
  })

  it("does not go there with an input that a role wants approved, unless it was", async () => {
    const allow = [
      ...limited(10),
      { tools: `${desk.namespace}.*`, approval: "required", conditions: [{ path: "/amount", op: "gt", value: 6 }] }
    ]
    const log = await logOf(
      server.alpha,
      await payment({ roleIds: [await addRole(server.alpha, { allow })], hooks: [rewriting(7)] }),
      ended(1)
    )
    assert.deepStrictEqual([outcomes(log), only(log, "wait_created")], [["tool_denied"], []])
  })

  it("does not go there once its role denies it, whoever was asked meanwhile", async () => {
    const cases: ReadonlyArray<
      readonly [what: string, grant: object, hooks: ReadonlyArray<object>, answer: object | undefined]
    > = [
      ["a person, by the role", { approval: "required" }, [], allow()],
      ["a client, by a hook before it", {}, [asking("before_tool_call")], allow()],
      [
        "nobody who answered",
        {},
        [asking("before_tool_call", { asyncTimeoutMs: 1_000, onTimeout: "allow" })],
        undefined
      ],
      ["a client, by a hook after the response", {}, [asking("after_model_response")], allow()],
      [
        "nobody who answered, by a hook after the response",
        {},
        [asking("after_model_response", { asyncTimeoutMs: 1_000, onTimeout: "allow" })],
        undefined
      ]
    ]
    await Promise.all(
      cases.map(async ([what, more, hooks, answer]) => {
        const roleId = await addRole(server.alpha, { allow: [{ tools: "*", ...more }] })
        const threadId = await payment({ roleIds: [roleId], hooks })
        const [wait] = await waitsOf(server.alpha, threadId)
        assert.strictEqual((await server.alpha.patch(`/v1/roles/${roleId}`, { allow: limited(1) })).status, 200)
        if (answer !== undefined) await resolveWait(server.alpha, threadId, wait!.id, answer)
        const log = await logOf(server.alpha, threadId, ended(1))
        assert.deepStrictEqual(
          [outcomes(log), only(log, "wait_created").length],
          [["tool_denied"], 1],
          `${what}: ${told(log).join()}`
        )
      })
    )
  })

  it("is asked about by a role that wants it approved by the time a response was judged", async () => {
    const roleId = await addRole(server.alpha, { allow: [{ tools: "*" }] })
    const threadId = await payment({ roleIds: [roleId], hooks: [asking("after_model_response")] })
    const [wait] = await waitsOf(server.alpha, threadId)
    await server.alpha.patch(`/v1/roles/${roleId}`, { allow: [{ tools: "*", approval: "required" }] })
    await resolveWait(server.alpha, threadId, wait!.id, allow())
    assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "role_approval", toolInput: { amount: 5 } })
  })

  it("goes there when all is as it was", async () => {
    for (const point of ["before_tool_call", "after_model_response"]) {
      const url = hooks.endpoint(allows()).url
      const threadId = await payment({
        hooks: [asking(point), { name: "fine", point: "before_tool_call", processor: { type: "url", url } }]
      })
      await resolveWait(server.alpha, threadId, (await waitsOf(server.alpha, threadId))[0]!.id, allow())
      assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "client_tool", toolInput: { amount: 5 } })
    }
  })
})
