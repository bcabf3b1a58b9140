/** Agents that use a family of tools: in their turns, under a policy, and by requests under their leases. */
import { assert } from "@effect/vitest"
import { AgentLeases } from "../../src/keys/AgentLeases.ts"
import { Client, type TestServer } from "../setup/server.ts"
import { type Event, logOf } from "./threadFixture.ts"
import { addRole, addToolset, begin, call, fresh, makeWorker, only, turnOf, waitsOf } from "./toolFixture.ts"

/** Outputs of the calls, or what they failed with. */
export const returned = (log: ReadonlyArray<Event>) =>
  only(log, "tool_result").map(({ failureCode, failureText, toolOutput }) =>
    failureCode === undefined ? toolOutput : `${String(failureCode)}: ${String(failureText)}`
  ) as ReadonlyArray<any>

/** Of the server that a file of tests has started; the first family is the one that is looked at. */
export const makeFamilyUsers = (server: TestServer, ...families: ReadonlyArray<string>) => {
  const worker = (profile: object = {}, client = server.alpha) =>
    makeWorker(client, { families, familyExposure: "always", ...profile })

  /** What the calls of one turn return, each in a response of its own. */
  const useBy = async (client: Client, agentId: string, ...lines: ReadonlyArray<string>) =>
    returned(await turnOf(client, agentId, ...lines.flatMap((line, i) => (i === 0 ? [line] : ["/then", line]))))
  const use = (agentId: string, ...lines: ReadonlyArray<string>) => useBy(server.alpha, agentId, ...lines)

  /** A workspace with a rule of its own for what agents do, if it names any: who looks after it, and its id. */
  const ruled = async (actions: ReadonlyArray<string>, require = true) => {
    const id = await server.workspace(fresh("ruled"))
    const admin = await server.client(id)
    const rules = actions.length === 0 ? [] : [{ actions, principals: ["agent"], require }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    return { id, admin }
  }

  /** An agent whose turn waits, and what it may do meanwhile. */
  const leased = async (
    profile: object = {},
    grants: ReadonlyArray<object> = [{ tools: `${families[0]}.*` }],
    { client = server.alpha, hops = 0, workspace = server.workspaces.alpha } = {}
  ) => {
    const { id, namespace } = await addToolset(client, {
      kind: "client",
      tools: [{ name: "hold", inputSchema: { type: "object" } }]
    })
    const roleId = await addRole(client, { allow: [...grants, { tools: `${namespace}.*` }] })
    const agentId = await worker({ toolsetIds: [id], roleIds: [roleId], ...profile }, client)
    const threadId = await begin(client, agentId, call(`${namespace}.hold`))
    await waitsOf(client, threadId)
    const turnId = String((await logOf(client, threadId, (log) => log.length > 0))[0]!.turnId)
    const leases = await server.runtime.runPromise(AgentLeases)
    const { token } = leases.give({ workspace, agentId, threadId, turnId, hops })
    return { agentId, threadId, turnId, lease: new Client(server.base, token) }
  }
  return { leased, ruled, use, useBy, worker }
}
