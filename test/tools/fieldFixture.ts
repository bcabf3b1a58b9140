/** Toolsets of servers as they are in the field, and how they stand. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Tool } from "../../src/tools/Tool.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { addToolset, call, fresh, makeWorker, only, turnOf } from "../http/toolFixture.ts"
import type { TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { type Lie, startLiar } from "./liar.ts"
import { type McpServerOptions, startMcpServer } from "./mcpServer.ts"

/** Of the server that a file of tests has started. */
export const makeFieldTools = (server: TestServer) => {
  const run = <A, E>(work: (toolsets: Toolsets["Service"]) => Effect.Effect<A, E>) =>
    server.runtime.runPromise(Effect.flatMap(Toolsets, work))

  /** The toolset of a server, and ways to call its tools and to see how it stands. */
  const registered = async (url: string, fields: object = {}) => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url, ...fields })
    const workspace = server.workspaces.alpha
    const find = async (name: string): Promise<Tool> => {
      const tools = await run((toolsets) =>
        Effect.flatMap(toolsets.current(workspace, [id]), (found) => toolsets.tools(workspace, found))
      )
      const tool = tools.find((tool) => tool.name === `${namespace}.${name}`)
      return tool ?? assert.fail(`no ${name}`)
    }
    const calling = (tool: Tool, input: unknown = {}) =>
      run((toolsets) => toolsets.call(workspace, tool, input, fresh("call_")))
    const read = async () => (await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset
    return {
      id,
      namespace,
      workspace,
      find,
      read,
      calling,
      called: async (name: string, input: unknown = {}) => await calling(await find(name), input),
      refresh: async () => assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).status, 200),
      becomes: async (status: string) => {
        await eventually(async () => (await read()).status === status, `the toolset is ${status}`)
        return await read()
      }
    }
  }

  /** What a turn is told that calls these, of an agent that has these toolsets. */
  const failuresOf = async (toolsetIds: ReadonlyArray<string>, ...names: ReadonlyArray<string>) => {
    const agentId = await makeWorker(server.alpha, { toolsetIds })
    return only(await turnOf(server.alpha, agentId, ...names.map((name) => call(name))), "tool_result").map(
      ({ failureCode, failureDetails, ...event }) => ({
        code: failureCode,
        text: JSON.stringify({ failureDetails, ...event })
      })
    )
  }

  const withServer =
    (
      options: McpServerOptions,
      work: (
        mcp: Awaited<ReturnType<typeof startMcpServer>>,
        toolset: Awaited<ReturnType<typeof registered>>
      ) => Promise<void>
    ) =>
    async () => {
      const mcp = await startMcpServer(options)
      try {
        await work(mcp, await registered(mcp.url))
      } finally {
        await mcp.close()
      }
    }

  const withLiar = async <A>(
    point: string,
    lie: Lie,
    work: (liar: Awaited<ReturnType<typeof startLiar>>, toolset: Awaited<ReturnType<typeof registered>>) => Promise<A>
  ): Promise<A> => {
    const liar = await startLiar(point, lie)
    try {
      return await work(liar, await registered(liar.url))
    } finally {
      await liar.close()
    }
  }
  return { failuresOf, registered, run, withLiar, withServer }
}
