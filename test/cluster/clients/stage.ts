/** What a workspace's clients work with: agents, and the tools that a client and a server of tools execute for them. */
import type { Office } from "./office.ts"

export interface Stage {
  readonly agentId: string
  /** An agent whose model counts its calls. */
  readonly proberId: string
  /** An agent whose model has a small window. */
  readonly talkerId: string
  /** The toolset whose calls clients execute. */
  readonly toolsetId: string
}

const clientTool = (name: string, timeoutMs: number) => ({ name, inputSchema: { type: "object" }, timeoutMs })

export const furnish = async ({ caller, cluster, create, name, namespace, workspace }: Office): Promise<Stage> => {
  const admin = caller()
  const words = `${workspace.canary} ${name}`.slice(0, 100)
  const toolset = (body: object) => create(admin, "/v1/toolsets", body, "toolset", "id")
  const profile = (body: object) => create(admin, "/v1/profiles", body, "profile", "id")
  const agent = (name: string, profileId: string) => create(admin, "/v1/agents", { name, profileId }, "agent", "id")

  const desk = await toolset({
    kind: "client",
    namespace: namespace("desk"),
    tools: [clientTool("lookup", 60_000), clientTool("guarded", 60_000), clientTool("forgotten", 10_000)]
  })
  const bank = await toolset({ kind: "mcp", namespace: namespace("bank"), url: cluster.toolsUrl, trusted: true })
  const guard = {
    name: "guard",
    point: "before_tool_call",
    match: { tools: [`${namespace("desk")}.guarded`] },
    processor: { type: "client" },
    asyncTimeoutMs: 60_000
  }
  const working = await profile({
    name: words,
    models: ["troupe/scripted"],
    toolsetIds: [desk, bank],
    hooks: [guard]
  })
  const probing = await profile({ name: "probe", models: ["ledger/model"] })
  const talking = await profile({ name: "talk", models: ["troupe/scripted-small"] })
  return {
    toolsetId: desk,
    agentId: await agent(words, working),
    proberId: await agent("probe", probing),
    talkerId: await agent("talk", talking)
  }
}
