/** What is sealed with one encryption key while another becomes the first, and when the old one may go. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { sql } from "kysely"
import { sampleSealed } from "../../src/cli/sealedTexts.ts"
import { NotOpened } from "../../src/crypto/box.ts"
import { type EncryptionKey, keyIdOf, makeEnvelope, SecretEnvelope } from "../../src/crypto/envelope.ts"
import { sealedFor } from "../../src/connections/Connections.ts"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { Images } from "../../src/images/Images.ts"
import { freshId } from "../../src/seed.ts"
import { sealedForWebhook } from "../../src/webhooks/attempt.ts"
import { freshDatabase } from "../setup/database.ts"

const key = (id: string, fill: number): EncryptionKey => ({ id, key: Redacted.make(new Uint8Array(32).fill(fill)) })
const [older, newer] = [key("older", 1), key("newer", 2)]

const opened = Effect.gen(function* () {
  const { url } = yield* Effect.acquireRelease(
    Effect.promise(() => freshDatabase()),
    ({ drop }) => Effect.promise(drop)
  )
  const context = yield* Layer.build(Database.layer({ url: Redacted.make(url) }))
  const database = yield* Effect.provide(Database, Layer.succeedContext(context))
  const workspace = freshId("workspace")
  yield* database.run("test", (db) =>
    sql`insert into workspaces (id, name) values (${toUuid(workspace)}, 'w')`.execute(db)
  )
  /** The id of an image by a node with these keys that has just started. */
  const idBy = (...keys: ReadonlyArray<EncryptionKey>) =>
    Effect.flatMap(Images, (images) => images.idOf(workspace, Buffer.from("picture"))).pipe(
      Effect.provide(Images.layer),
      Effect.provide(SecretEnvelope.layer(keys)),
      Effect.provideService(Database, database)
    )
  return { database, workspace, idBy }
})

describe("a workspace's key of images", () => {
  it.live("is sealed anew at its first use under another key, and then the old key may go: ids stay the same", () =>
    Effect.gen(function* () {
      const { database, idBy } = yield* opened
      const keyId = Effect.map(database.run("test", sampleSealed), (found) =>
        found.map(({ sealed }) => keyIdOf(sealed))
      )
      const id = yield* idBy(older)
      assert.deepStrictEqual(yield* keyId, ["older"])
      assert.instanceOf(yield* Effect.flip(Effect.catchDefect(idBy(newer), Effect.fail)), NotOpened)
      assert.strictEqual(yield* idBy(newer, older), id)
      assert.deepStrictEqual(yield* keyId, ["newer"])
      assert.strictEqual(yield* idBy(newer), id)
    }).pipe(Effect.scoped)
  )
})

describe("what is sealed", () => {
  it.live(
    "is counted by kind and key, the secrets of webhooks and keys of images among it, with one that opens of each",
    () =>
      Effect.gen(function* () {
        const { database, idBy, workspace } = yield* opened
        const { open, seal } = makeEnvelope([older])
        yield* idBy(older)
        const space = toUuid(workspace)
        for (const past of ["1 day", "-1 day"]) {
          const id = freshId("webhook")
          const place = sealedForWebhook(workspace, id)
          yield* database.run("test", (db) =>
            sql`insert into webhooks (workspace, id, url, events, enabled, sealed, previous, previous_until, created_at,
              created_by, updated_at)
            values (${space}, ${toUuid(id)}, 'https://a.example', '{}', true, ${seal(place, "new")},
              ${makeEnvelope([newer]).seal(place, "old")}, now() + ${past}::interval, now(), '{}', now())`.execute(db)
          )
        }
        const connection = freshId("connection")
        yield* database.run("test", (db) =>
          sql`insert into connections (workspace, id, body, sealed, rev, created_at, updated_at) values (${space},
          ${toUuid(connection)}, '{}', ${seal(sealedFor(workspace, connection), "token")}, 1, now(), now())`.execute(db)
        )
        const found = yield* database.run("test", sampleSealed)
        assert.deepStrictEqual(
          found.map(({ count, key: id, kind }) => [kind, id, count]),
          [
            ["connection", "older", 1],
            ["images", "older", 1],
            // Of the two secrets before these, the one that still counts.
            ["webhook", "newer", 1],
            ["webhook", "older", 2]
          ]
        )
        for (const { key: id, place, sealed } of found) if (id === "older") assert.isNotEmpty(open(place, sealed))
      }).pipe(Effect.scoped)
  )
})
