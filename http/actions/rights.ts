/** Why what was approved may not be carried out any more: the call itself would be refused so now. */
import { Effect } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import type { HeldOperation } from "../../src/operations/rows.ts"
import { Refused } from "../errors.ts"

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
const lacking = (scope: Scope) =>
  new Refused({
    error: "permission_denied",
    code: "missing_scope",
    message: `the credential that asked for it does not have the scope ${scope}`
  })

export const makeRights = Effect.gen(function* () {
  const directory = yield* Directory

  return (workspace: string, { credential: { isOver, scopes }, requester }: HeldOperation, scope: Scope) => {
    if (requester === undefined) return ended
    const { credential, principal } = requester
    const identities = [credential.identity, principal.identity]
    if (identities.some((identity) => identity !== undefined && directory.identityDisabled(workspace, identity)))
      return disabled
    if (isOver) return credential.type === "key" ? ended : archived
    return credential.type === "lease" || scopes.includes(scope) ? undefined : lacking(scope)
  }
})
