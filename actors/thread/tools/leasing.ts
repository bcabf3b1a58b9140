/** The lease that a tool server gets with a call, where its toolset asks for one. */
import { Effect } from "effect"
import { Directory } from "../../../src/agents/Directory.ts"
import { AgentLeases } from "../../../src/keys/AgentLeases.ts"
import type { LeaseOf } from "../../../src/tools/Toolsets.ts"
import type { CallBy } from "../settings.ts"

export const makeLeasing = Effect.gen(function* () {
  const directory = yield* Directory
  const leases = yield* AgentLeases

  /** Nobody gets one in the name of an identity that is disabled: the thread's, or the agent's. */
  return ({ agentId, hops, identity, threadId, workspace }: CallBy, turnId: string): LeaseOf =>
    Effect.map(directory.agent(workspace, agentId), (agent) =>
      [identity, agent?.identity].some((one) => one !== undefined && directory.identityDisabled(workspace, one))
        ? undefined
        : leases.give({ workspace, agentId, threadId, turnId, hops })
    )
})
