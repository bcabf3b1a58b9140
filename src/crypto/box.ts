/**
 * AES-256-GCM over texts: what is kept encrypted in the database is boxes of this form, nonce, ciphertext and tag in
 * base64url.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

/** A box that another key, another context or another hand made. */
export class NotOpened extends Error {
  override readonly name = "NotOpened"
}

/** `context` is not in the box, and must be the same to open it. `key` has 32 bytes. */
export const box = (key: Uint8Array, text: string | Uint8Array, context: string): string => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url")
}

/** Throws NotOpened. */
export const open = (key: Uint8Array, boxed: string, context: string): Uint8Array => {
  const bytes = Buffer.from(boxed, "base64url")
  // Texts that decode to the same bytes are not the same box.
  if (bytes.length < 28 || bytes.toString("base64url") !== boxed) throw new NotOpened("not a box")
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 }).setAAD(
    Buffer.from(context)
  )
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
  } catch (cause) {
    throw new NotOpened("the box cannot be opened with this key and context", { cause })
  }
}
