/** Which models an agent may name in what it makes for itself: those that its profile selects, as in its threads. */
import { Effect } from "effect"
import type { DatabaseUnavailable } from "../database/Database.ts"
import { isSelected } from "../models/choice.ts"
import { Models } from "../models/Model.ts"
import { Directory } from "./Directory.ts"

/** `selector`: undefined or null names none. */
export type AgentMayName = (
  workspace: string,
  agentId: string,
  selector: string | null | undefined
) => Effect.Effect<boolean, DatabaseUnavailable>

export const makeAgentMayName = Effect.gen(function* () {
  const directory = yield* Directory
  const models = yield* Models
  const mayName: AgentMayName = (workspace, agentId, selector) =>
    selector === undefined || selector === null
      ? Effect.succeed(true)
      : Effect.map(
          directory.agent(workspace, agentId),
          (agent) => agent !== undefined && isSelected(models, agent.profile, selector)
        )
  return mayName
})
