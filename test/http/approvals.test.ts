/** What an approval is good for: the grants that asked for it, the tool and the thread; nothing that a role says later. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer } from "../tools/mcpServer.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import { addRole, addToolset, assertSound, begin, call, fresh, makeWorker, outcomes, resolveWait, waitsOf } from "./toolFixture.ts"

let server: TestServer
let mcp: McpServer
let toolset: { readonly id: string; readonly namespace: string }
beforeAll(async () => {
  [server, mcp] = await Promise.all([
    startServer({ leaseTtlMs: 20_000 }),
    startMcpServer({ tools: [{ name: "pay", run: () => "paid" }] })
  ])
  toolset = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
})
afterAll(async () => {
  await assertSound(server)
  await Promise.all([server.stop(), mcp.close()])
})

const allow = (more: object = {}) => ({ type: "decision", decision: "allow", ...more })
const forThread = allow({ scope: "thread" })
const grant = (op?: string, value?: number) =>
  ({ tools: `${toolset.namespace}.*`, approval: "required", ...(op !== undefined && { conditions: [{ path: "/amount", op, value }] }) })

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
    edit: async (...grants: ReadonlyArray<object>) => assert.strictEqual((await server.alpha.patch(`/v1/roles/${roleId}`, { allow: grants })).status, 200),
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
