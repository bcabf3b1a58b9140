/** Versions of entries of memory. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { forgetMemory } from "../../src/memory/forgetting.ts"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { another, makeStores, query } from "./memoryFixture.ts"

/** Of its own: a test counts what is forgotten of all there is. */
const server = await during(startServer())
const { ofWorkspace, run, stores } = makeStores(server)

describe.each(Object.entries(stores))("versions in %s", (_, open) => {
  it("are one chain, through deletes as well, and hold what was written", async () => {
    const store = await open()
    await store.put("k", "one")
    await store.put("k", "two!")
    await store.delete("k")
    await store.put("k", "three")
    const versions = await store.versions("k")
    assert.deepStrictEqual(
      versions.map(({ operation, size }: { readonly operation: string; readonly size: number }) => [operation, size]),
      [
        ["put", 5],
        ["delete", 0],
        ["put", 4],
        ["put", 3]
      ]
    )
    assert.deepStrictEqual(
      versions.map(({ previousVersion }: { readonly previousVersion?: string }) => previousVersion),
      [...versions.slice(1).map(({ version }: { readonly version: string }) => version), undefined]
    )
    const one = async (version: string, key = "k") =>
      store.client.get(`${store.path}/entry/versions/${version}${query({ key })}`)
    assert.strictEqual((await one(versions[2].version)).body.version.value, "two!")
    assert.notProperty((await one(versions[1].version)).body.version, "value")
    // Of another entry, of another store, of nobody.
    await store.put("l", "one")
    assertRefused(await one(versions[2].version, "l"), 404, "not_found")
    assertRefused(await one(another), 404, "not_found")
    const other = await open()
    assertRefused(await other.client.get(`${other.path}/entry/versions/${versions[2].version}?key=k`), 404, "not_found")
  })

  it("are redacted for good, but for the current one", async () => {
    const store = await open()
    const redact = (version: string, key = "k") =>
      store.client.post(`${store.path}/entry/versions/${version}/redact${query({ key })}`)
    const secret: string = (await store.put("k", "secret")).body.entry.version
    const refused = await redact(secret)
    assertRefused(refused, 409, "memory_conflict")
    assert.strictEqual(refused.body.currentVersion, secret)
    await store.put("k", "public")
    const done = await redact(secret)
    assert.strictEqual(done.status, 200, done.text)
    assert.isString(done.body.version.redactedAt)
    assert.deepStrictEqual((await redact(secret)).body, done.body)
    const shown = await store.client.get(`${store.path}/entry/versions/${secret}?key=k`)
    assert.deepStrictEqual(shown.body, done.body)
    assert.deepStrictEqual((await store.versions("k"))[1], done.body.version)
    assert.deepStrictEqual(
      await run(async (db) =>
        (await db.selectFrom("memory_versions").select("key").where("value", "=", "secret").execute()).map(
          ({ key }) => key
        )
      ),
      []
    )
    assertRefused(await redact(secret, "l"), 404, "not_found")
    assertRefused(await redact(another), 404, "not_found")
  })
})

describe("versions", () => {
  it("are listed in pages, and the newest 100 are kept", async () => {
    const store = await ofWorkspace()
    for (let i = 1; i <= limits.memoryVersions + 1; i++) await store.put("k", String(i))
    const page = async (more: Readonly<Record<string, string>>) =>
      (await store.client.get(`${store.path}/entry/versions${query({ key: "k", ...more })}`)).body
    const whole = await page({ limit: "200" })
    assert.lengthOf(whole.versions, limits.memoryVersions)
    const first = await page({ limit: "99" })
    const second = await page({ limit: "99", cursor: first.nextCursor })
    assert.deepStrictEqual([...first.versions, ...second.versions], whole.versions)
    assert.notProperty(second, "nextCursor")
    const oldest = whole.versions.at(-1).version
    assert.strictEqual((await store.client.get(`${store.path}/entry/versions/${oldest}?key=k`)).body.version.value, "2")
  })

  it("of a deleted entry are kept for 30 days", async () => {
    const store = await ofWorkspace()
    for (const key of ["old", "young", "alive"]) await store.put(key, "v")
    for (const key of ["old", "young"]) await store.delete(key)
    for (const [key, days] of [
      ["old", 31],
      ["young", 29],
      ["alive", 31]
    ] as const)
      await run((db) =>
        sql`update memory_entries set updated_at = now() - ${days} * interval '1 day' where key = ${key}`.execute(db)
      )
    assert.strictEqual(await server.runtime.runPromise(forgetMemory()), 1)
    assert.deepStrictEqual(
      await Promise.all(["old", "young", "alive"].map(async (key) => (await store.versions(key)).length)),
      [0, 2, 1]
    )
    // It begins anew.
    assert.strictEqual((await store.put("old", "v", "none")).status, 201)
    assert.lengthOf(await store.versions("old"), 1)
  })
})
