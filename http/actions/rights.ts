/** Why what was approved may not be carried out any more: the call itself would be refused so now. */
import { Effect } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import type { Db } from "../../src/database/handle.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import type { Requester } from "../../src/operations/requester.ts"
import { lostRight } from "../../src/operations/rights.ts"
import { Refused } from "../errors.ts"

const disabled = new Refused({
  error: "identity_disabled",
  message: "the identity that asked for it is disabled"
})
const refusals = {
  credential_ended: new Refused({
    error: "unauthenticated",
    code: "invalid_credential",
    message: "the credential that asked for it has ended or was revoked"
  }),
  scope_missing: new Refused({
    error: "permission_denied",
    code: "missing_scope",
    message: "the credential that asked for it does not have its scope any more"
  }),
  agent_archived: new Refused({ error: "agent_archived", message: "the agent that asked for it is archived" })
}

export const makeRights = Effect.gen(function* () {
  const directory = yield* Directory

  return async (db: Db, workspace: string, requester: Requester, scope: Scope): Promise<Refused | undefined> => {
    const identities = [requester.credential.identity, requester.principal.identity]
    if (identities.some((identity) => identity !== undefined && directory.identityDisabled(workspace, identity)))
      return disabled
    const lost = await lostRight(db, workspace, requester, scope)
    return lost && refusals[lost]
  }
})
