/**
 * The images of workspaces: kept, named, and given to whoever shows them to a model.
 *
 * I1. An id is an HMAC of the bytes with a key of the workspace: the same bytes have one id in it, and an id tells
 *     nobody elsewhere which picture it is. The key is made with the first image and never changes; it is sealed, and
 *     sealed anew at its first use after another encryption key has become the first.
 * I2. Bytes never change, so they are held in memory below a cap and read once; what one prompt needs is one read.
 * I3. Whether an image is still there is the store's to say: a thread's prompt need not ask, since what it names stays.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { createHmac, randomBytes } from "node:crypto"
import { SecretEnvelope } from "../crypto/envelope.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { imageKey, missingImages, readImages, readSizes, renewImageKey, type StoredImage } from "./rows.ts"

export class Images extends Context.Service<
  Images,
  {
    /** The id of these bytes in a workspace (I1). */
    readonly idOf: (workspace: string, bytes: Buffer) => Effect.Effect<string, DatabaseUnavailable>
    /** Those of the ids that are not the agent's. The others are named by whoever asks, and stay (leaving.ts). */
    readonly missing: (
      workspace: string,
      agentId: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<string>, DatabaseUnavailable>
    /** How many bytes these have together, each counted once; those that are not there count nothing. */
    readonly bytesOf: (workspace: string, ids: ReadonlyArray<string>) => Effect.Effect<number, DatabaseUnavailable>
    /** An image of a workspace, as long as it is there. */
    readonly find: (workspace: string, id: string) => Effect.Effect<StoredImage | undefined, DatabaseUnavailable>
    /** Images that living threads name, by id; without those that are not there. */
    readonly load: (
      workspace: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, StoredImage>, DatabaseUnavailable>
  }
>()("troupe/images/Images") {
  static readonly layer = Layer.effect(
    Images,
    Effect.suspend(() => make)
  )
}

const heldBytes = 64 * 1024 * 1024
const heldKeys = 1_000
const heldSizes = 20_000

/** Where a workspace's key of image ids belongs, as it is sealed. */
export const sealedForImages = (workspace: string) => ({ workspace, id: workspace, purpose: "images" })

const make = Effect.gen(function* () {
  const database = yield* Database
  const envelope = yield* SecretEnvelope
  const keys = new LRUCache<string, Buffer>({ max: heldKeys })
  const held = new LRUCache<string, StoredImage>({
    maxSize: heldBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 1
  })

  const sizes = new LRUCache<string, number>({ max: heldSizes })

  const keyOf = Effect.fnUntraced(function* (workspace: string) {
    const known = keys.get(workspace)
    if (known !== undefined) return known
    const stored = yield* database.run("images.key", (db) => imageKey(db, workspace))
    const sealed =
      stored ??
      (yield* database.run("images.makeKey", (db) =>
        imageKey(db, workspace, envelope.seal(sealedForImages(workspace), randomBytes(32).toString("base64")))
      )) ??
      ""
    const place = sealedForImages(workspace)
    const opened = envelope.open(place, sealed)
    if (!envelope.isCurrent(sealed)) {
      const renewed = envelope.seal(place, opened)
      yield* database.run("images.renewKey", (db) => renewImageKey(db, workspace, sealed, renewed))
    }
    const key = Buffer.from(opened, "base64")
    keys.set(workspace, key)
    return key
  })

  const load = Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
    const found = new Map<string, StoredImage>()
    const unread: Array<string> = []
    for (const id of new Set(ids)) {
      const known = held.get(workspace + id)
      if (known === undefined) unread.push(id)
      else found.set(id, known)
    }
    if (unread.length === 0) return found
    for (const [id, image] of yield* database.run("images.load", (db) => readImages(db, workspace, unread))) {
      held.set(workspace + id, image)
      found.set(id, image)
    }
    return found
  })

  return Images.of({
    load,
    find: Effect.fnUntraced(function* (workspace: string, id: string) {
      const sizes = yield* database.run("images.find", (db) => readSizes(db, workspace, [id]))
      if (sizes.size > 0) return (yield* load(workspace, [id])).get(id)
      held.delete(workspace + id)
      return undefined
    }),
    idOf: (workspace, bytes) =>
      Effect.map(keyOf(workspace), (key) => `img_${createHmac("sha256", key).update(bytes).digest("hex")}`),
    missing: (workspace, agentId, ids) =>
      database.run("images.missing", (db) => missingImages(db, workspace, agentId, ids)),
    bytesOf: Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
      let bytes = 0
      const unread: Array<string> = []
      for (const id of new Set(ids)) {
        const size = sizes.get(workspace + id)
        if (size === undefined) unread.push(id)
        else bytes += size
      }
      if (unread.length === 0) return bytes
      for (const [id, size] of yield* database.run("images.sizes", (db) => readSizes(db, workspace, unread))) {
        sizes.set(workspace + id, size)
        bytes += size
      }
      return bytes
    })
  })
})
