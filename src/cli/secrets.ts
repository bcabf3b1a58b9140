/** Secrets that a development server makes once and keeps in its data folder, each in a file of mode 0600. */
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { chmod, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { EncryptionKey } from "../crypto/envelope.ts"
import { generateKey, parseKey } from "../keys/keyText.ts"
import { ensureDataFolder } from "../postgres/dataFolder.ts"
import { failure } from "./failure.ts"

/** What a file holds; undefined when there is none. One that may not be read is not one that is not there. */
const read = async (path: string) => {
  try {
    return (await readFile(path, "utf8")).trim()
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

/** Whole or not at all: half a key would be none. */
const write = async (folder: string, name: string, text: string) => {
  const path = join(folder, name)
  await ensureDataFolder(folder)
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600 })
  await chmod(`${path}.new`, 0o600)
  await rename(`${path}.new`, path)
  return text
}

const unusable = (folder: string) => (cause: unknown) =>
  failure(`The data folder ${folder} cannot be used. Give another in TROUPE_DATA.`, cause)

const find = (folder: string, name: string) =>
  Effect.tryPromise({ try: () => read(join(folder, name)), catch: unusable(folder) })
const make = (folder: string, name: string, text: string) =>
  Effect.tryPromise({ try: () => write(folder, name, text), catch: unusable(folder) })
const close = (folder: string, name: string) =>
  Effect.tryPromise({ try: () => chmod(join(folder, name), 0o600), catch: unusable(folder) })

/** One that is no key is made anew: whoever has the old one can make another with it no more. */
export const keepDevKey = Effect.fn("cli.keepDevKey")(function* (folder: string) {
  const name = "dev-key"
  const found = yield* find(folder, name)
  if (found === undefined || parseKey(found) === undefined) return yield* make(folder, name, generateKey().key)
  yield* close(folder, name)
  return found
})

const encryptionKey = "encryption-key"

/**
 * The key of an earlier start, if there was one. A file that is no key is never replaced: what was sealed with it would
 * be lost.
 */
export const findEncryptionKey = Effect.fn("cli.findEncryptionKey")(function* (folder: string) {
  const found = yield* find(folder, encryptionKey)
  if (found === undefined) return undefined
  const bytes = Buffer.from(found, "base64")
  if (bytes.length !== 32 || bytes.toString("base64") !== found) {
    return yield* failure(
      `${join(folder, encryptionKey)} holds no key of 32 bytes. Put the old one back; or remove the file, and ` +
        "replace the secrets of all connections and webhooks, and delete all rows of image_keys."
    )
  }
  return { id: "dev", key: Redacted.make(new Uint8Array(bytes)) } satisfies EncryptionKey
})

export const keepEncryptionKey = Effect.fn("cli.keepEncryptionKey")(function* (folder: string) {
  const found = yield* findEncryptionKey(folder)
  if (found !== undefined) {
    yield* close(folder, encryptionKey)
    return found
  }
  const bytes = randomBytes(32)
  yield* make(folder, encryptionKey, bytes.toString("base64"))
  return { id: "dev", key: Redacted.make(new Uint8Array(bytes)) } satisfies EncryptionKey
})
