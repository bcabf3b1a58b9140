/**
 * The images of workspaces: kept, named, and given to whoever shows them to a model.
 *
 * I1. An id is an HMAC of the bytes with a key of the workspace: the same bytes have one id in it, and an id tells
 *     nobody elsewhere which picture it is. The key is sealed, made with the first image, and never changes.
 * I2. Bytes never change, so they are held in memory below a cap and read once; what one prompt needs is one read.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { createHmac, randomBytes } from "node:crypto"
import { SecretEnvelope } from "../crypto/envelope.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { imageKey, missingImages, readImages, type StoredImage } from "./rows.ts"

export class Images extends Context.Service<
  Images,
  {
    /** The id of these bytes in a workspace (I1). */
    readonly idOf: (workspace: string, bytes: Buffer) => Effect.Effect<string, DatabaseUnavailable>
    /** Those of the ids that are not the agent's. */
    readonly missing: (
      workspace: string,
      agentId: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<string>, DatabaseUnavailable>
    /** Images of a workspace by id; without those that are not there. */
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

const placeOf = (workspace: string) => ({ workspace, id: workspace, purpose: "images" })

const make = Effect.gen(function* () {
  const database = yield* Database
  const envelope = yield* SecretEnvelope
  const keys = new LRUCache<string, Buffer>({ max: heldKeys })
  const held = new LRUCache<string, StoredImage>({
    maxSize: heldBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 1
  })

  const keyOf = Effect.fnUntraced(function* (workspace: string) {
    const known = keys.get(workspace)
    if (known !== undefined) return known
    const stored = yield* database.run("images.key", (db) => imageKey(db, workspace))
    const sealed =
      stored ??
      (yield* database.run("images.makeKey", (db) =>
        imageKey(db, workspace, envelope.seal(placeOf(workspace), randomBytes(32).toString("base64")))
      )) ??
      ""
    const key = Buffer.from(envelope.open(placeOf(workspace), sealed), "base64")
    keys.set(workspace, key)
    return key
  })

  return Images.of({
    idOf: (workspace, bytes) =>
      Effect.map(keyOf(workspace), (key) => `img_${createHmac("sha256", key).update(bytes).digest("hex")}`),
    missing: (workspace, agentId, ids) =>
      database.run("images.missing", (db) => missingImages(db, workspace, agentId, ids)),
    load: Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
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
  })
})
