/**
 * The answer to a new key, as it is kept for its Idempotency-Key: the token in it is encrypted.
 *
 * A key's secret is never stored (src/store/Keys.ts, K1), yet a repeated request must get the same
 * answer. The key of the encryption comes from the caller's own credential and Idempotency-Key, of
 * which the database holds only hashes: nobody but the caller can open it.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

interface Secrets {
  /** The header Authorization, as it was sent. */
  readonly authorization: string
  readonly idempotencyKey: string
}

const keyOf = ({ authorization, idempotencyKey }: Secrets) =>
  new Uint8Array(hkdfSync("sha256", authorization.replace(/^bearer +/i, "").trim(), idempotencyKey, "troupe kept token", 32))

export const seal = (token: string, secrets: Secrets) => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", keyOf(secrets), nonce)
  return Buffer.concat([nonce, cipher.update(token, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url")
}

export const unseal = (sealed: string, secrets: Secrets) => {
  const bytes = Buffer.from(sealed, "base64url")
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secrets), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString("utf8")
}
