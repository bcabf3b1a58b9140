import { assert, describe, it } from "@effect/vitest"
import pg from "pg"
import { freshDatabase } from "./database.ts"

describe("a fresh database", () => {
  it("speaks UTF8 and UTC, and is gone when dropped", async () => {
    const database = await freshDatabase()
    const client = new pg.Client({ connectionString: database.url })
    client.on("error", () => {})
    await client.connect()
    const { rows } = await client.query(
      "select getdatabaseencoding() as encoding, current_setting('timezone') as zone, current_setting('server_version') as version, 'ü' as text"
    )
    assert.strictEqual(rows[0].encoding, "UTF8")
    assert.strictEqual(rows[0].zone, "UTC")
    assert.match(rows[0].version, /^18/)
    await client.end()
    await database.drop()
  })
})
