/**
 * Rules of every key that a key makes, whether it is a new one or takes the place of another.
 *
 * U1. It may do no more than its maker, ends no later, and has the identity that its maker is bound to: whoever is
 *     shown a token can use it.
 * U2. What can change meanwhile is asked in the transaction that writes the key: whether the maker was revoked, the
 *     identity disabled, and whether there is room.
 */
import { Effect } from "effect"
import type { Tx } from "../../src/database/handle.ts"
import type { ApiKey, Scope } from "../../src/keys/apiKey.ts"
import { readIdentity } from "../../src/identities/rows.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { generateKey } from "../../src/keys/keyText.ts"
import { createKey, type KeyToStore } from "../../src/keys/rows.ts"
import type { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { refuseForeign } from "../ownIdentity.ts"
import { makeQuotaCheck } from "../quotas.ts"
import { jsonAnswer } from "../writes.ts"

const notHeld = new Refused({
  error: "permission_denied",
  code: "scope_not_held",
  message: "scopes: a key cannot be given a scope that the caller lacks"
})
const past = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "expiresAt: expected a time in the future"
})
const pastMaker = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "expiresAt: expected a time no later than the end of the key that makes this one"
})
const disabled = new Refused({ error: "identity_disabled", message: "identity: this identity is disabled" })

export const makerRevoked = new Refused({
  error: "unauthenticated",
  code: "invalid_credential",
  message: "the credential was revoked"
})
export const noKey = new Refused({ error: "not_found", message: "no such key" })

/** The answer to a new key. */
export const created = (made: { readonly key: ApiKey; readonly token: string }) =>
  jsonAnswer(made, 201, { location: `/v1/auth/keys/${made.key.id}` })

/** A key as it is wanted: `expiresAt` in milliseconds. */
export interface KeyTerms {
  readonly scopes: ReadonlyArray<Scope>
  readonly identity: string | undefined
  readonly expiresAt: number | undefined
}

/** U1. */
export const refuseMore = (
  { expiresAt: end, identity: own, scopes: held }: Caller["Service"],
  { expiresAt, identity, scopes }: KeyTerms
) => {
  if (!scopes.every((scope) => held.has(scope))) return notHeld
  const foreign = refuseForeign(own, identity)
  if (foreign !== undefined) return foreign
  return end !== undefined && (expiresAt === undefined || expiresAt > end) ? pastMaker : undefined
}

/** Makes the key and its text, or says why not (U2). */
export const makeIssue = Effect.gen(function* () {
  const lease = yield* Lease
  const roomFor = yield* makeQuotaCheck

  return async (tx: Tx, workspace: string, wanted: Omit<KeyToStore, "public" | "hash">) => {
    const { expiresAt, identity } = wanted
    if (expiresAt !== undefined && expiresAt <= lease.now()) return past
    if (identity !== undefined && (await readIdentity(tx, workspace, identity))?.disabled === true) return disabled
    const full = await roomFor(tx, workspace, "keys")
    if (full !== undefined) return full
    const { hash, key: token, publicPart } = generateKey()
    const key = await createKey(tx, workspace, { ...wanted, public: publicPart, hash }, lease.now())
    return { key, token }
  }
})
