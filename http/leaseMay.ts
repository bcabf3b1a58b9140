/**
 * An agent may do no more under its lease, where its tools have a say, than by a call of the tool that stands for the
 * same, with the request as its input.
 *
 * O1. Asked of the agent's profile and its roles as they are now, not as they were when the turn began.
 * O2. In a memory store an agent may no more than its profile says of that store.
 * O3. A family that the profile does not name is not the agent's, whatever its roles allow.
 */
import { Effect } from "effect"
import { Directory } from "../src/agents/Directory.ts"
import type { DatabaseUnavailable } from "../src/database/Database.ts"
import { mayInStore, storeIn } from "../src/memory/may.ts"
import { evaluateRoles } from "../src/roles/evaluate.ts"
import { Roles } from "../src/roles/Roles.ts"
import type { Caller } from "./Caller.ts"

/** `park`: a grant wants a person's word first. */
export type LeaseVerdict = "allow" | "deny" | "park"

/** Verbs of built-in tools that change nothing. */
const reading = new Set(["get", "list", "read", "search"])

/** A caller, as far as it matters. */
interface Asker extends Pick<Caller["Service"], "workspace"> {
  readonly lease?: { readonly agentId: string }
}

const allow = Effect.succeed<LeaseVerdict>("allow")

export const makeLeaseMay = Effect.gen(function* () {
  const directory = yield* Directory
  const roles = yield* Roles

  const asAgent = Effect.fnUntraced(function* (workspace: string, agentId: string, name: string, input: unknown) {
    const agent = yield* directory.agent(workspace, agentId)
    const [family, verb = ""] = name.split(".")
    const offered = agent?.profile.families?.some((one) => one === family)
    if (agent === undefined || agent.archived || offered !== true) return "deny"
    if (family === "memory" && !mayInStore(agent.profile.memory, storeIn(input), verb)) return "deny"
    const held = yield* roles.of(workspace, agent.profile.roleIds)
    const verdict = evaluateRoles(held, { name, input, readOnly: reading.has(verb) })
    if (verdict.decision === "deny") return "deny"
    return verdict.approvals === undefined ? "allow" : "park"
  })

  /** Of any other credential the scopes have decided: it is allowed. `toolName` is `family.verb`. */
  return (
    { lease, workspace }: Asker,
    toolName: string,
    input: unknown
  ): Effect.Effect<LeaseVerdict, DatabaseUnavailable> =>
    lease === undefined ? allow : asAgent(workspace, lease.agentId, toolName, input)
})
