/** Secrets that a development server makes once and keeps in its data folder, each in a file of mode 0600. */
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { EncryptionKey } from "../config.ts"
import { generateKey, parseKey } from "../crypto/apiKey.ts"
import { failure } from "./failure.ts"

const kept = (folder: string, name: string, isValid: (text: string) => boolean, make: () => string) =>
  Effect.tryPromise({
    try: async () => {
      const path = join(folder, name)
      const found = (await readFile(path, "utf8").catch(() => "")).trim()
      if (isValid(found)) {
        await chmod(path, 0o600)
        return found
      }
      const fresh = make()
      await mkdir(folder, { recursive: true, mode: 0o755 })
      await writeFile(path, `${fresh}\n`, { mode: 0o600 })
      await chmod(path, 0o600)
      return fresh
    },
    catch: (cause) => failure(`The data folder ${folder} cannot be written. Give another in TROUPE_DATA.`, cause)
  })

export const keepDevKey = (folder: string) => kept(folder, "dev-key", (text) => parseKey(text) !== undefined, () => generateKey().key)

export const keepEncryptionKey = (folder: string) =>
  Effect.map(
    kept(folder, "encryption-key", (text) => Buffer.from(text, "base64").length === 32, () => randomBytes(32).toString("base64")),
    (text): EncryptionKey => ({ id: "dev", key: Redacted.make(new Uint8Array(Buffer.from(text, "base64"))) })
  )
