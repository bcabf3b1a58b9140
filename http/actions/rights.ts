/** Why what was approved may not be carried out any more: the call itself would be refused so now. */
import { Effect } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import type { HeldOperation } from "../../src/operations/rows.ts"
import { Refused } from "../errors.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import type { AnyAction, ToolRequest } from "./Action.ts"

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

  /** What its roles say of the agent's request now. A grant that wants a person's word has it. */
  const letting = (workspace: string, agentId: string, { input, name }: ToolRequest) =>
    Effect.runPromise(
      may({ workspace, lease: { agentId } }, name, input).pipe(
        Effect.match({ onFailure: () => later, onSuccess: (verdict) => (verdict === "deny" ? notLet : undefined) })
      )
    )

  return async (
    workspace: string,
    { credential: { isOver, scopes }, request, requester }: HeldOperation,
    { scope, toolOf }: AnyAction
  ) => {
    if (requester === undefined) return ended
    const { credential, principal } = requester
    const identities = [credential.identity, principal.identity]
    if (identities.some((identity) => identity !== undefined && directory.identityDisabled(workspace, identity)))
      return disabled
    if (isOver) return credential.type === "key" ? ended : archived
    if (credential.type === "key") return scopes.includes(scope) ? undefined : lacking(scope)
    const tool = toolOf(request)
    return tool === undefined ? undefined : letting(workspace, credential.agentId, tool)
  }
})
