/** Look-ups of credentials in PostgreSQL: of keys that are there, that are guessed, and while it is away. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { generateKey } from "../../src/keys/keyText.ts"
import { createKey } from "../../src/keys/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { Keys } from "../../src/keys/Keys.ts"
import { keysPostgres } from "../../src/keys/postgres.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { databaseDuring } from "../setup/database.ts"

describe("look-ups of keys", async () => {
  const fresh = await databaseDuring()

  const open = (url: string) =>
    Effect.map(
      Layer.build(keysPostgres.pipe(Layer.provideMerge(Database.layer({ url: Redacted.make(url) })))),
      (context) => ({
        database: Context.get(context, Database),
        keys: Context.get(context, Keys)
      })
    )

  it.live("at once share statements, each with its own answer", () =>
    Effect.gen(function* () {
      const { database, keys } = yield* open(fresh.url)
      const made = [generateKey(), generateKey()]
      const workspace = yield* database.atomically("test", async (tx) => {
        const id = await ensureWorkspace(tx, "default")
        for (const { hash, publicPart } of made)
          await createKey(tx, id, { public: publicPart, hash, name: "test", scopes: ["read"] }, Date.now())
        return id
      })
      const asked = [...Array.from({ length: 200 }, () => generateKey()), ...made, ...made]
      const before = database.counts.api
      const found = yield* Effect.forEach(asked, ({ publicPart }) => keys.findByPublic(publicPart), {
        concurrency: "unbounded"
      })
      assert.isAtMost(database.counts.api - before, Math.ceil(asked.length / 64))
      assert.deepStrictEqual(
        found.slice(0, 200).filter((key) => key !== undefined),
        []
      )
      assert.deepStrictEqual(
        found.slice(200).map((key) => [key?.hash, key?.workspace]),
        [...made, ...made].map(({ hash }) => [hash, workspace])
      )
    }).pipe(Effect.scoped)
  )

  it.live("fail all with one word while PostgreSQL is away", () =>
    Effect.gen(function* () {
      const { keys } = yield* open("postgres://127.0.0.1:1/none")
      const refused = yield* Effect.forEach(
        Array.from({ length: 5 }, () => generateKey()),
        ({ publicPart }) => Effect.flip(keys.findByPublic(publicPart)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        refused.map(({ _tag, operation }) => [_tag, operation]),
        Array(5).fill(["DatabaseUnavailable", "keys_by_public"])
      )
    }).pipe(Effect.scoped)
  )
})
