/** Calls that do not run: of tools that are not there, with inputs that do not fit, or denied by roles. */
import { assert, describe, it } from "@effect/vitest"
import type { Event } from "./threadFixture.ts"
import { addRole, addToolset, call, failures, makeWorker, only, outcomes, told, turnOf } from "./toolFixture.ts"
import { executed, stock, toolTurnStand } from "./toolTurnFixture.ts"

const { server } = await toolTurnStand()
const { mcp, ns, worker } = await stock(server)

const turn = (...lines: ReadonlyArray<string>) => turnOf(server.alpha, worker, ...lines)

describe("a call that does not run", () => {
  const reaches = async (log: ReadonlyArray<Event>, codes: ReadonlyArray<string>) => {
    assert.deepStrictEqual(outcomes(log), [...codes])
    assert.deepStrictEqual(executed(log, mcp), [])
    assert.strictEqual(log.at(-1)!.type, "turn_completed")
  }

  it("for want of such a tool is tool_not_found", async () => {
    const names = [
      `${ns}.nothing`,
      "nothing",
      "echo",
      `${ns}.`,
      `${ns}.ECHO`,
      `${ns.toUpperCase()}.echo`,
      `${ns}.*`,
      "*",
      "__proto__",
      "constructor",
      "n.".repeat(200)
    ]
    await reaches(
      await turn(...names.map((name) => call(name, { text: "a" }))),
      names.map(() => "tool_not_found")
    )
  })

  it("for its input is tool_input_invalid, whether it is no JSON or does not fit", async () => {
    const log = await turn(
      `/call ${ns}.echo {"text": `,
      `/call ${ns}.echo [1]`,
      `/call ${ns}.echo null`,
      call(`${ns}.echo`, { text: 1 }),
      call(`${ns}.echo`),
      call(`${ns}.echo`, { text: "a", more: 1 })
    )
    await reaches(
      log,
      Array.from({ length: 6 }, () => "tool_input_invalid")
    )
    assert.strictEqual(only(log, "tool_intent")[0]!.toolInput, `{"text":`)
    assert.include(String(failures(log)[3]![1]), "text")
  })

  it("for its roles is tool_denied, by name, by input and for want of a grant", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const roleIds = [
      await addRole(server.alpha, {
        allow: [
          { tools: `${namespace}.echo`, conditions: [{ path: "/text", op: "startsWith", value: "ok" }] },
          { tools: `${namespace}.put` }
        ],
        deny: [
          { tools: `${namespace}.echo`, conditions: [{ path: "/text", op: "contains", value: "secret" }] },
          { tools: `*.put` }
        ]
      })
    ]
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id], roleIds })
    const log = await turnOf(
      server.alpha,
      agentId,
      call(`${namespace}.echo`, { text: "ok" }),
      call(`${namespace}.echo`, { text: "no" }),
      call(`${namespace}.echo`, { text: "ok secret" }),
      call(`${namespace}.put`),
      call(`${namespace}.read`),
      call(`${namespace}.echo`, { text: 5 })
    )
    assert.deepStrictEqual(outcomes(log), [
      "ok",
      "tool_denied",
      "tool_denied",
      "tool_denied",
      "tool_denied",
      "tool_denied"
    ])
    assert.deepStrictEqual(
      executed(log, mcp).map(({ input }) => input),
      [{ text: "ok" }]
    )
  })

  it("with the built-in roles is what they do not allow", async () => {
    for (const [role, codes] of [
      ["role_00000000000000000000000002", ["read", "tool_denied"]],
      ["role_00000000000000000000000003", ["tool_denied", "tool_denied"]]
    ] as const) {
      const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
      const agentId = await makeWorker(server.alpha, { toolsetIds: [id], roleIds: [role] })
      assert.deepStrictEqual(
        outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.read`), call(`${namespace}.put`))),
        [...codes]
      )
    }
  })

  it("because it has not been revealed is tool_not_found", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url, exposure: "search" })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    await reaches(await turnOf(server.alpha, agentId, call(`${namespace}.read`)), ["tool_not_found"])
  })

  it("because include and exclude leave it out is tool_not_found", async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "mcp",
      url: mcp.url,
      include: ["read", "put"],
      exclude: ["put"]
    })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    assert.deepStrictEqual(
      outcomes(
        await turnOf(
          server.alpha,
          agentId,
          call(`${namespace}.read`),
          call(`${namespace}.put`),
          call(`${namespace}.echo`, { text: "" })
        )
      ),
      ["read", "tool_not_found", "tool_not_found"]
    )
  })

  it("is one of more than 128 in a response: that turn fails, and none of them runs", async () => {
    const log = await turn(...Array.from({ length: 129 }, () => call(`${ns}.read`)))
    assert.deepStrictEqual(told(log), ["user_message", "turn_failed: model_error"])
    const most = await turn(...Array.from({ length: 128 }, () => call(`${ns}.read`)), "/say done")
    assert.lengthOf(executed(most, mcp), 128)
  })
})
