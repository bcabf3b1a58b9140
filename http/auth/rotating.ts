/** A key takes the place of another one that is like it, and the old one ends after a while. */
import { Effect } from "effect"
import type { Tx } from "../../src/database/handle.ts"
import { limits } from "../../src/domain/limits.ts"
import { fromTimestamp } from "../../src/domain/time.ts"
import { Lease } from "../../src/journal/Lease.ts"
import type { ApiKey, KeyRotation } from "../../src/keys/apiKey.ts"
import { endKey, lockKeys } from "../../src/keys/rows.ts"
import type { Caller } from "../Caller.ts"
import { isRefused, Refused } from "../errors.ts"
import { created, makeIssue, makerRevoked, noKey, refuseMore } from "./issuing.ts"

const ended = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "the key has ended: there is nothing left of it that a new one could have"
})

/** What a key like it is made with, but for its end. */
const likeIt = ({ agentIds, feedIds, identity, kind, name, provider, scopes }: ApiKey) => ({
  kind,
  name,
  scopes,
  ...(identity !== undefined && { identity }),
  ...(provider !== undefined &&
    agentIds !== undefined && { trigger: { provider, agentIds, ...(feedIds !== undefined && { feedIds }) } })
})

export const makeRotate = Effect.gen(function* () {
  const issue = yield* makeIssue
  const lease = yield* Lease

  return async (
    tx: Tx,
    caller: Caller["Service"],
    id: string,
    { overlapSeconds = limits.keyOverlapSeconds.usual }: KeyRotation
  ) => {
    const { keyId, principal, workspace } = caller
    const held = await lockKeys(tx, workspace, [id, keyId])
    if (!held.has(keyId)) return makerRevoked
    const found = held.get(id)
    if (found === undefined) return noKey
    const { firstId, key: old } = found
    const end = old.expiresAt === undefined ? undefined : fromTimestamp(old.expiresAt)
    const now = lease.now()
    if (end !== undefined && end <= now) return ended
    const refused = refuseMore(caller, { scopes: old.scopes, identity: old.identity, expiresAt: end })
    if (refused !== undefined) return refused
    const made = await issue(tx, workspace, {
      ...likeIt(old),
      firstId,
      by: principal,
      ...(end !== undefined && { expiresAt: end })
    })
    if (isRefused(made)) return made
    const until = now + overlapSeconds * 1000
    if (end === undefined || until < end) await endKey(tx, workspace, old.id, until)
    return created(made)
  }
})
