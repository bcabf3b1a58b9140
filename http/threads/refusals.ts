/** What is refused of a request before its thread is asked. */
import type { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"

/** Only a trigger may say where a message came from. */
export const refuseOrigin = ({ trigger }: Caller["Service"], origin: object | undefined, within = "") =>
  origin === undefined || trigger !== undefined
    ? undefined
    : new Refused({ error: "origin_not_allowed", message: `${within}origin: only a trigger may send it` })

/**
 * An old version of a profile may lack the hooks and roles of a later one: it is for those who may change the profile.
 */
export const refusePin = ({ scopes }: Caller["Service"], profileVersion: number | undefined) =>
  profileVersion === undefined || scopes.has("write")
    ? undefined
    : new Refused({
        error: "permission_denied",
        code: "missing_scope",
        message: "profileVersion: this credential does not have the scope write"
      })

/** A trigger begins threads of its own agents: of others it learns no more than that they are not its own. */
export const refuseUnreached = ({ trigger }: Caller["Service"], agentId: string) =>
  trigger === undefined || trigger.agentIds.has(agentId)
    ? undefined
    : new Refused({ error: "agent_not_found", message: "agentId: no such agent" })

export const noThread = () => new Refused({ error: "not_found", message: "no such thread" })
