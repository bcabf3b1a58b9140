/** MCP servers of other times, and those that want what Troupe does not give. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { type Lie, sendJson, sendResult, stream } from "./liar.ts"
import type { TestTool } from "./mcpServer.ts"
import { makeFieldTools } from "./fieldFixture.ts"

const server = await sharedServer()
const { failuresOf, withLiar, withServer } = makeFieldTools(server)

describe("a server of another kind is told apart", () => {
  /** The status, and the failure of a call of whatever tool it may have. */
  const told = (point: string, lie: Lie) =>
    withLiar(point, lie, async (_, { id, namespace, read }) => {
      const { status, statusReason } = await read()
      const [failure] = await failuresOf([id], `${namespace}.whatever`)
      return { status, statusReason, failure }
    })

  const oldSse: Lie = (response, { method }) => {
    if (method !== "listen") return void response.writeHead(404).end("Cannot POST /sse")
    stream(response).raw("event: endpoint\ndata: /messages?sessionId=1\n\n")
  }
  const initialized =
    (version: string): Lie =>
    (response, { id }) =>
      sendResult(response, id, {
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: "liar", version: "0" }
      })
  const refusedVersion: Lie = (response, { id }) =>
    sendJson(response, {
      jsonrpc: "2.0",
      id,
      error: {
        code: -32602,
        message: "Unsupported protocol version",
        data: { supported: ["2030-01-01"], requested: "2025-11-25" }
      }
    })
  const later: Lie = (response, { id }) =>
    sendJson(response, {
      jsonrpc: "2.0",
      id,
      error: {
        code: -32022,
        message: "Unsupported protocol version",
        data: { supported: ["2030-01-01"], requested: "2026-07-28" }
      }
    })
  const needy: Lie = (response, { id }) =>
    sendJson(
      response,
      {
        jsonrpc: "2.0",
        id,
        error: { code: -32021, message: "Missing capability", data: { requiredCapabilities: { sampling: {} } } }
      },
      400
    )

  for (const [what, point, lie, words] of [
    ["that speaks only the old SSE transport", "*", oldSse, "only MCP's old transport, HTTP with SSE"],
    [
      "that answers with a version of long ago",
      "initialize",
      initialized("1999-01-01"),
      "speaks version 1999-01-01 of MCP, and Troupe speaks 2026-07-28, 2025-11-25"
    ],
    [
      "that refuses the version and says which it speaks",
      "initialize",
      refusedVersion,
      "speaks version 2030-01-01 of MCP"
    ],
    ["of a later revision", "server/discover", later, "speaks version 2030-01-01 of MCP"],
    [
      "that wants a client which can sample",
      "tools/list",
      needy,
      "wants a client with sampling (the answer of a model), which Troupe does not give"
    ]
  ] as const satisfies ReadonlyArray<readonly [string, string, Lie, string]>) {
    it(what, async () => {
      const { failure, status, statusReason } = await told(point, lie)
      assert.strictEqual(status, "unreachable")
      assert.include(statusReason, words)
      assert.strictEqual(failure?.code, "toolset_unreachable")
      assert.include(failure?.text, words)
    })
  }

  const asks = (method: "sampling/createMessage" | "elicitation/create", swallows: boolean): TestTool => ({
    name: method.startsWith("sampling") ? "samples" : "elicits",
    run: async (_, { ask }) => {
      try {
        await ask({
          method,
          params: { messages: [], maxTokens: 1, message: "Who?", requestedSchema: { type: "object", properties: {} } }
        })
        return "answered"
      } catch (error) {
        return { isError: true, content: [{ type: "text", text: swallows ? "no luck" : String(error) }] }
      }
    }
  })

  it(
    "by the tool's error and the toolset's reason, where it asks for sampling or elicitation",
    withServer(
      {
        tools: [asks("sampling/createMessage", false), asks("elicitation/create", true)]
      },
      async (_, { called, read }) => {
        const sampled = (await called("samples")).failure
        assert.strictEqual(sampled?.code, "tool_error")
        assert.include(
          sampled?.text,
          "the server asked for sampling (the answer of a model), which Troupe does not give to tool servers"
        )
        assert.deepStrictEqual(await called("elicits"), {
          failure: {
            code: "tool_error",
            text: "no luck\nthe server asked for elicitation (the answer of a person), which Troupe does not give to tool servers: use a tool, an input or a setting of the server that does without"
          }
        })
        await eventually(
          async () => (await read()).statusReason?.includes("elicitation") === true,
          "the toolset says so"
        )
        assert.strictEqual((await read()).status, "ready")
      }
    )
  )
})
