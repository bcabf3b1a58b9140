/**
 * Why what was approved may not be carried out any more: the call itself would be refused so now.
 *
 * J1. The end, the scopes and the identity of a key are looked up. Of an agent the identities of its thread and its
 *     own, as for a lease (http/Leases.ts, E2), that it is not archived, and what its roles say of the tool that stands
 *     for the action.
 * J2. What is asked here may wait for the connections of reads, and never for those of transactions: the one that holds
 *     the operation meanwhile waits for no other one (src/database/Database.ts, C1).
 */
import { Effect } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import type { HeldOperation } from "../../src/operations/rows.ts"
import { Refused } from "../errors.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import type { AnyAction, ToolRequest } from "../actions/Action.ts"

const disabled = new Refused({
  error: "identity_disabled",
  message: "the identity that asked for it is disabled"
})
const ended = new Refused({
  error: "unauthenticated",
  code: "invalid_credential",
  message: "the credential that asked for it has ended or was revoked"
})
const archived = new Refused({ error: "agent_archived", message: "the agent that asked for it is archived" })
const notLet = new Refused({
  error: "permission_denied",
  message: "the profile and roles of the agent that asked for it do not let it do this any more"
})
const lacking = (scope: Scope) =>
  new Refused({
    error: "permission_denied",
    code: "missing_scope",
    message: `the credential that asked for it does not have the scope ${scope}`
  })

/** Nothing is lost: who decides tries again. */
export const later = new Refused({
  error: "runtime_unavailable",
  message: "this cannot be carried out at the moment, or only by a newer version of the server; try again",
  retryAfterSeconds: 2
})

export const makeRights = Effect.gen(function* () {
  const directory = yield* Directory
  const may = yield* makeLeaseMay

  const isDisabled = (workspace: string, identity: string | undefined) =>
    identity !== undefined && directory.identityDisabled(workspace, identity)

  /** What an agent may not any more. A grant that wants a person's word has it. */
  const agentLost = Effect.fnUntraced(function* (workspace: string, agentId: string, tool: ToolRequest | undefined) {
    const agent = yield* directory.agent(workspace, agentId)
    if (isDisabled(workspace, agent?.identity)) return disabled
    if (tool === undefined) return undefined
    return (yield* may({ workspace, lease: { agentId } }, tool.name, tool.input)) === "deny" ? notLet : undefined
  })

  return async (
    workspace: string,
    { credential: { isOver, scopes }, request, requester }: HeldOperation,
    { scope, toolOf }: AnyAction
  ) => {
    if (requester === undefined) return ended
    const { credential, principal } = requester
    if ([credential.identity, principal.identity].some((identity) => isDisabled(workspace, identity))) return disabled
    if (isOver) return credential.type === "key" ? ended : archived
    if (credential.type === "key") return scopes.includes(scope) ? undefined : lacking(scope)
    const { agentId } = credential
    return Effect.runPromise(
      agentLost(workspace, agentId, toolOf(request, agentId)).pipe(Effect.catch(() => Effect.succeed(later)))
    )
  }
})
