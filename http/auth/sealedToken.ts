/**
 * The answer to a new key, as it is kept for its Idempotency-Key: the token in it is encrypted.
 *
 * A key's secret is never stored (src/keys/Keys.ts, K1), yet a repeated request must get the same
 * answer. The key of the encryption comes from the caller's own credential and Idempotency-Key, of
 * which the database holds only hashes: nobody but the caller can open it.
 */
import { hkdfSync } from "node:crypto"
import { box, open } from "../../src/crypto/box.ts"

interface Secrets {
  /** The header Authorization, as it was sent. */
  readonly authorization: string
  readonly idempotencyKey: string
}

const purpose = "troupe kept token"

const keyOf = ({ authorization, idempotencyKey }: Secrets) =>
  new Uint8Array(hkdfSync("sha256", authorization.replace(/^bearer +/i, "").trim(), idempotencyKey, purpose, 32))

export const seal = (token: string, secrets: Secrets) => box(keyOf(secrets), token, purpose)

export const unseal = (sealed: string, secrets: Secrets) =>
  Buffer.from(open(keyOf(secrets), sealed, purpose)).toString("utf8")
