/** What becomes of a call whose server is gone, busy, broken or lying, or is not trusted. */
import { assert, describe, it } from "@effect/vitest"
import { readOnly } from "../../src/roles/role.ts"
import { endless, type Liar, type Lie, listedTools, sendJson, startLiar, stream } from "../tools/liar.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { addToolset, call, failures, makeWorker, outcomes, turnOf } from "./toolFixture.ts"
import { toolTurnStand } from "./toolTurnFixture.ts"

const { server, stage } = await toolTurnStand()

describe("a server", () => {
  it("that is gone is toolset_unreachable, and comes back by itself", async () => {
    const own = await startMcpServer()
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const again = async () =>
      outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.put`), call(`${namespace}.delete.all`)))
    assert.deepStrictEqual(await again(), ["put", "deleted"])
    await own.forgetSessions()
    assert.deepStrictEqual(await again(), ["put", "deleted"], "a session that is over is opened again")
    await own.close()
    assert.deepStrictEqual(await again(), ["toolset_unreachable", "toolset_unreachable"])
  })

  it("that wants another credential is toolset_unauthorized, without a call", async () => {
    const own = await startMcpServer()
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url })
    own.expect("something else")
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.read`))), [
      "toolset_unauthorized"
    ])
    assert.deepStrictEqual(own.calls, [])
    await own.close()
  })

  const status =
    (code: number, headers: Record<string, string> = {}): Lie =>
    (response) =>
      response.writeHead(code, headers).end("x")
  /** What becomes of `change`, which must not run twice, and of `look`, which may. */
  const lies: ReadonlyArray<readonly [what: string, lie: Lie, change: string, look: string]> = [
    ["redirects", status(302, { location: "http://127.0.0.1:1/secret" }), "toolset_unreachable", "toolset_unreachable"],
    ["says that it is busy", status(503), "toolset_unreachable", "toolset_unreachable"],
    ["refuses the credential", status(401), "toolset_unauthorized", "toolset_unauthorized"],
    ["breaks", status(500), "tool_outcome_unknown", "toolset_unreachable"],
    ["closes the connection", (response) => response.destroy(), "tool_outcome_unknown", "toolset_unreachable"],
    [
      "ends its stream without an answer",
      (response) => {
        stream(response)
        response.end()
      },
      "tool_outcome_unknown",
      "toolset_unreachable"
    ],
    [
      "answers with a page",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "tool_error",
      "tool_error"
    ],
    ["answers with broken JSON", (response) => sendJson(response, "{"), "tool_error", "tool_error"],
    [
      "floods",
      (response) => endless(response.writeHead(200, { "content-type": "application/json" }), "[".repeat(65_536), 0),
      "tool_error",
      "tool_error"
    ],
    [
      "sends an event without an end",
      (response) => {
        stream(response)
        return endless(response, `data: ${"x".repeat(65_536)}`, 0)
      },
      "tool_outcome_unknown",
      "toolset_unreachable"
    ]
  ]
  for (const [what, lie, change, look] of lies)
    it.concurrent(`that ${what} at a call: ${change}, or ${look} where it may run again; the turn goes on`, async () => {
      const liar: Liar = await startLiar("tools/call", lie)
      const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: liar.url })
      const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
      const log = await turnOf(server.alpha, agentId, ...listedTools.map(({ name }) => call(`${namespace}.${name}`)))
      assert.deepStrictEqual(outcomes(log), [change, look], JSON.stringify(failures(log)))
      assert.strictEqual(log.at(-1)!.type, "turn_completed")
      await liar.close()
    })
})

describe("a server that nobody has said to be trusted", () => {
  it("is not believed that a tool changes nothing: read_only does not allow it, until the toolset says so", async () => {
    const { agentId, id, namespace } = await stage(
      [{ name: "wipe", annotations: { readOnlyHint: true }, run: () => "wiped" }],
      { roleIds: [readOnly.id] },
      { trusted: false }
    )
    const wipe = async () => outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.wipe`)))
    assert.deepStrictEqual(await wipe(), ["tool_denied"])
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${id}`, { trusted: true })).status, 200)
    assert.deepStrictEqual(await wipe(), ["wiped"])
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${id}`, { trusted: false })).status, 200)
    assert.deepStrictEqual(await wipe(), ["tool_denied"])
  })

  it("is not believed that a call may run again: where nobody knows, that is what is said", async () => {
    const liar = await startLiar("tools/call", (response) => response.destroy())
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: liar.url, trusted: false })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const log = await turnOf(server.alpha, agentId, ...listedTools.map(({ name }) => call(`${namespace}.${name}`)))
    assert.deepStrictEqual(outcomes(log), ["tool_outcome_unknown", "tool_outcome_unknown"])
    assert.strictEqual(liar.times(), 2)
    await liar.close()
  })
})
