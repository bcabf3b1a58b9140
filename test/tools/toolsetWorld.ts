/** Servers of tools, the toolsets that have them, and what a turn asks of these. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fresh } from "../http/toolFixture.ts"
import type { Tool } from "../../src/tools/Tool.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import type { TestServer } from "../setup/server.ts"
import { type Era, type McpServerOptions, startMcpServer, type TestTool } from "./mcpServer.ts"

export const text = (name: string, said: string): TestTool => ({ name, run: () => said })

/** Of the server that a file of tests has started. */
export const makeToolsetWorlds = (server: TestServer) => {
  const run = <A, E>(work: (toolsets: Toolsets["Service"]) => Effect.Effect<A, E>) =>
    server.runtime.runPromise(Effect.flatMap(Toolsets, work))

  /** A server, its toolset, and ways to ask for what a turn asks. */
  const world = async (era: Era, options: McpServerOptions = {}, fields: object = {}) => {
    const mcp = await startMcpServer({ ...options, era })
    const namespace = fresh("world")
    const answer = await server.alpha.post("/v1/toolsets", {
      kind: "mcp",
      namespace,
      url: mcp.url,
      trusted: true,
      ...fields
    })
    assert.strictEqual(answer.status, 201, answer.text)
    const { id } = answer.body.toolset
    const workspace = server.workspaces.alpha
    const current = () => run((toolsets) => toolsets.current(workspace, [id]))
    const tools = async () =>
      await run((toolsets) =>
        Effect.flatMap(toolsets.current(workspace, [id]), (found) => toolsets.tools(workspace, found))
      )
    const find = async (name: string): Promise<Tool> => {
      const tool = (await tools()).find((tool) => tool.name === `${namespace}.${name}`)
      if (tool === undefined) throw new Error(`no ${name}`)
      return tool
    }
    const call = async (name: string, input: unknown = {}, toolCallId = fresh("call_")) => {
      const tool = await find(name)
      return await run((toolsets) => toolsets.call(workspace, tool, input, toolCallId))
    }
    const read = async () => (await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset
    return { mcp, id, namespace, workspace, current, tools, find, call, read, close: () => mcp.close() }
  }
  const within =
    (
      era: Era,
      work: (made: Awaited<ReturnType<typeof world>>) => Promise<void>,
      options: McpServerOptions = {},
      fields: object = {}
    ) =>
    async () => {
      const made = await world(era, options, fields)
      try {
        await work(made)
      } finally {
        await made.close()
      }
    }
  return { run, within, world }
}
