/**
 * The answer to a new key, as it is kept for its Idempotency-Key: the token in it is encrypted.
 *
 * A key's secret is never stored (src/keys/Keys.ts, K1), yet a repeated request must get the same
 * answer. The key of the encryption comes from the caller's own credential and Idempotency-Key, of
 * which the database holds only hashes: nobody but the caller can open it.
 */
import { Schema } from "effect"
import { hkdfSync } from "node:crypto"
import { box, open } from "../../src/crypto/box.ts"
import type { Keeping } from "../Idempotency.ts"

interface Secrets {
  /** The header Authorization, as it was sent. */
  readonly authorization: string
  readonly idempotencyKey: string
}

const purpose = "troupe kept token"

const keyOf = ({ authorization, idempotencyKey }: Secrets) =>
  new Uint8Array(hkdfSync("sha256", authorization.replace(/^bearer +/i, "").trim(), idempotencyKey, purpose, 32))

const seal = (token: string, secrets: Secrets) => box(keyOf(secrets), token, purpose)

const unseal = (sealed: string, secrets: Secrets) => Buffer.from(open(keyOf(secrets), sealed, purpose)).toString("utf8")

const Created = Schema.fromJsonString(Schema.Struct({ key: Schema.Unknown, token: Schema.String }))
const read = Schema.decodeUnknownSync(Created)

/** The answer to a new key, kept with its token sealed. */
export const sealedToken = (secrets: Secrets): Keeping => ({
  keep: (body) => {
    const { key, token } = read(body)
    return JSON.stringify({ key, token: seal(token, secrets) })
  },
  reveal: (kept) => {
    const { key, token } = read(kept)
    return JSON.stringify({ key, token: unseal(token, secrets) })
  }
})
