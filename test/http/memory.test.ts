/** Memory over HTTP: entries, their versions, and what writes compare. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { forgetMemory } from "../../src/memory/forgetting.ts"
import { limits } from "../../src/domain/limits.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { makeAgent } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const run = <A>(work: (db: Parameters<Parameters<TestServer["database"]["run"]>[1]>[0]) => Promise<A>) =>
  server.runtime.runPromise(server.database.run("test", work))

const query = (fields: Readonly<Record<string, string | undefined>>) => {
  const sent = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  )
  return sent.length === 0 ? "" : `?${sent.join("&")}`
}

/** One store, as a client uses it. */
class Store {
  readonly client: Client
  readonly path: string
  constructor(client: Client, path: string) {
    this.client = client
    this.path = path
  }
  put(key: string, value: string, expectedVersion?: string, headers?: Record<string, string>) {
    const body = { value, ...(expectedVersion === undefined ? {} : { expectedVersion }) }
    return this.client.put(`${this.path}/entry${query({ key })}`, body, headers)
  }
  get(key: string) {
    return this.client.get(`${this.path}/entry${query({ key })}`)
  }
  delete(key?: string, expectedVersion?: string, headers?: Record<string, string>) {
    return this.client.delete(`${this.path}/entry${query({ key, expectedVersion })}`, headers)
  }
  async versions(key: string) {
    return (await this.client.get(`${this.path}/entry/versions${query({ key })}`)).body.versions
  }
  async version(key: string) {
    return (await this.get(key)).body.entry?.version as string
  }
  async keys(more: Readonly<Record<string, string>> = {}) {
    const answer = await this.client.get(`${this.path}${query(more)}`)
    assert.strictEqual(answer.status, 200, answer.text)
    return (answer.body.entries as ReadonlyArray<{ readonly key: string }>).map(({ key }) => key)
  }
}
const ofAgent = async (client = server.alpha) => {
  const agentId = await makeAgent(client)
  return new Store(client, `/v1/agents/${agentId}/memory`)
}
/** The workspace's, of a workspace of its own. */
const ofWorkspace = async () => new Store(await server.client(await server.workspace(fresh("memory"))), "/v1/memory")
const stores = { "an agent's store": () => ofAgent(), "the workspace's store": ofWorkspace }

/** A version that no entry has. */
const another = "mver_01m7y1svs7e0087pe32vr71000"

describe.each(Object.entries(stores))("%s", (_, open) => {
  it("keeps a note until it is changed and deleted", async () => {
    const store = await open()
    const made = await store.put("notes/style.md", "Short sentences.")
    assert.strictEqual(made.status, 201, made.text)
    const { entry } = made.body
    assert.strictEqual(made.headers.get("location"), `${store.path}/entry?key=notes%2Fstyle.md`)
    assert.strictEqual(made.headers.get("etag"), `"${entry.version}"`)
    assert.deepInclude(entry, { key: "notes/style.md", value: "Short sentences.", size: 16 })
    assert.strictEqual(entry.updatedBy.type, "api_key")
    const got = await store.get("notes/style.md")
    assert.deepStrictEqual([got.status, got.body, got.headers.get("etag")], [200, made.body, `"${entry.version}"`])

    const changed = await store.put("notes/style.md", "Kurze Sätze.", entry.version)
    assert.strictEqual(changed.status, 200, changed.text)
    assert.deepInclude(changed.body.entry, { size: 13, createdAt: entry.createdAt })
    assert.notStrictEqual(changed.body.entry.version, entry.version)

    const gone = await store.delete("notes/style.md", changed.body.entry.version)
    assert.strictEqual(gone.status, 200, gone.text)
    const { operation } = gone.body
    assert.deepStrictEqual(
      [operation.action, operation.state, operation.result],
      ["memory.delete", "completed", { status: 204, body: null }]
    )
    assert.deepStrictEqual((await store.client.get(`/v1/operations/${operation.id}`)).body.operation, operation)
    assertRefused(await store.get("notes/style.md"), 404, "not_found")
    assert.deepStrictEqual(await store.keys(), [])
  })

  // What is sent -> what comes of it, where there is no entry and where there is one.
  it("compares as its table says", async () => {
    const store = await open()
    const seen: Array<unknown> = []
    const tell = async (what: string, answer: Awaited<ReturnType<Client["send"]>>) => {
      seen.push([what, answer.status, answer.body.error ?? "", answer.body.currentVersion ?? ""])
      return answer
    }
    await tell("put a version", await store.put("k", "1", another))
    await tell("put none", await store.put("k", "1", "none"))
    const first = await store.version("k")
    await tell("put none again", await store.put("k", "2", "none"))
    await tell("put another", await store.put("k", "2", another))
    await tell("put what is no version", await store.put("k", "1", "latest"))
    await tell("put the version", await store.put("k", "2", first))
    const second = await store.version("k")
    await tell("put it again", await store.put("k", "3", first))
    await tell("put nothing expected", await store.put("k", "3"))
    const third = await store.version("k")
    await tell("put elsewhere", await store.put("l", "1"))
    await tell("delete another", await store.delete("k", another))
    await tell("delete the old", await store.delete("k", second))
    await tell("delete the version", await store.delete("k", third))
    await tell("delete it again", await store.delete("k", third))
    await tell("delete what is gone", await store.delete("k"))
    await tell("delete what never was", await store.delete("m"))
    await tell("delete a version of it", await store.delete("m", another))
    await tell("delete nothing", await store.delete())
    await tell("delete a version of nothing", await store.delete(undefined, another))
    await tell("put what is gone, by its version", await store.put("k", "4", third))
    await tell("put what is gone", await store.put("k", "4", "none"))
    assert.deepStrictEqual(seen, [
      ["put a version", 404, "not_found", ""],
      ["put none", 201, "", ""],
      ["put none again", 409, "memory_conflict", first],
      ["put another", 409, "memory_conflict", first],
      ["put what is no version", 409, "memory_conflict", first],
      ["put the version", 200, "", ""],
      ["put it again", 409, "memory_conflict", second],
      ["put nothing expected", 200, "", ""],
      ["put elsewhere", 201, "", ""],
      ["delete another", 409, "memory_conflict", third],
      ["delete the old", 409, "memory_conflict", third],
      ["delete the version", 200, "", ""],
      ["delete it again", 404, "not_found", ""],
      ["delete what is gone", 200, "", ""],
      ["delete what never was", 200, "", ""],
      ["delete a version of it", 404, "not_found", ""],
      ["delete nothing", 200, "", ""],
      ["delete a version of nothing", 404, "not_found", ""],
      ["put what is gone, by its version", 404, "not_found", ""],
      ["put what is gone", 201, "", ""]
    ])
  })

  it("writes nothing where the value is there already, and says so", async () => {
    const store = await open()
    const made = await store.put("k", "same")
    const again = await store.put("k", "same")
    assert.deepStrictEqual([again.status, again.body], [200, made.body])
    assert.lengthOf(await store.versions("k"), 1)
    assertRefused(await store.put("k", "same", "none"), 409, "memory_conflict")
    assertRefused(await store.put("k", "same", another), 409, "memory_conflict")
  })

  it("takes If-Match for the version, and refuses two that differ", async () => {
    const store = await open()
    const version: string = (await store.put("k", "1", undefined, { "if-match": '"none"' })).body.entry.version
    const tag = (text: string) => ({ "if-match": text })
    assert.strictEqual((await store.put("k", "2", undefined, tag(`"${another}"`))).status, 409)
    assert.strictEqual((await store.put("k", "2", undefined, tag(`W/"${version}"`))).status, 409)
    assertRefused(await store.put("k", "2", version, tag(`"${another}"`)), 400, "invalid_request")
    assert.strictEqual((await store.put("k", "2", undefined, tag(`"${version}", "${another}"`))).status, 409)
    assertRefused(await store.put("k", "2", undefined, tag(" ")), 400, "invalid_request")
    assert.strictEqual((await store.put("k", "2", version, tag(`"${version}"`))).status, 200)
    assert.strictEqual((await store.put("k", "3", undefined, tag("*"))).status, 200)
    assertRefused(await store.delete("k", undefined, tag(`"${version}"`)), 409, "memory_conflict")
    assertRefused(await store.delete("k", another, tag(`"${version}"`)), 400, "invalid_request")
    assert.strictEqual((await store.delete("k", undefined, tag(`"${await store.version("k")}"`))).status, 200)
  })

  it("tells keys apart by their bytes, and lists them in the order of these", async () => {
    const store = await open()
    const keys = ["..", "a", "a/", "a//b", "a/b", "A", "ä", "a b", "a%b", "a_b", 'a"\\', "z", "\u{1F600}", "\uFF5E"]
    for (const key of keys) assert.strictEqual((await store.put(key, `of ${key}`)).status, 201, key)
    for (const key of keys) assert.strictEqual((await store.get(key)).body.entry.value, `of ${key}`)
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepStrictEqual(await store.keys(), sorted)
    for (const prefix of ["a", "a/", "a%", "a_", 'a"', "\u{1F600}", "zz", ""])
      assert.deepStrictEqual(
        await store.keys({ prefix }),
        sorted.filter((key) => key.startsWith(prefix)),
        prefix
      )
    const pages: Array<string> = []
    let cursor: string | undefined
    do {
      const page = await store.client.get(`${store.path}${query({ prefix: "a", limit: "2", cursor })}`)
      pages.push(...page.body.entries.map(({ key }: { readonly key: string }) => key))
      cursor = page.body.nextCursor
    } while (cursor !== undefined)
    assert.deepStrictEqual(
      pages,
      sorted.filter((key) => key.startsWith("a"))
    )
  })

  it("takes keys and prefixes of 512 bytes into its cursors, and none longer", async () => {
    const store = await open()
    const prefix = '"'.repeat(511)
    for (const end of ["a", "b", "c"]) assert.strictEqual((await store.put(prefix + end, "v")).status, 201)
    const page = await store.client.get(`${store.path}${query({ prefix, limit: "1" })}`)
    const next = await store.client.get(`${store.path}${query({ limit: "1", cursor: page.body.nextCursor })}`)
    assert.strictEqual(next.body.entries[0].key, `${prefix}b`)
    assertRefused(await store.put(`${prefix}ä`, "v"), 400, "invalid_request")
    assertRefused(await store.client.get(`${store.path}${query({ prefix: `${prefix}ä` })}`), 400, "invalid_request")
  })

  it("finds entries by words in keys and values, in this store only", async () => {
    const [store, other] = [await open(), await ofAgent()]
    await store.put("people/ann-lee.md", "Prefers tea. Lives in Oslo.")
    await store.put("people/bo", "Prefers coffee, never tea in the morning.")
    await store.put("gone", "tea")
    await store.delete("gone")
    await other.put("tea", "tea tea tea")
    const find = async (q: string, more: Readonly<Record<string, string>> = {}) => {
      const answer = await store.client.get(`${store.path}/search${query({ q, ...more })}`)
      assert.strictEqual(answer.status, 200, answer.text)
      return answer.body.entries as ReadonlyArray<Readonly<Record<string, unknown>> & { readonly key: string }>
    }
    const keys = async (q: string, more?: Readonly<Record<string, string>>) =>
      (await find(q, more)).map(({ key }) => key).toSorted()
    assert.deepStrictEqual(await keys("tea"), ["people/ann-lee.md", "people/bo"])
    assert.deepStrictEqual(await keys("TEA oslo"), ["people/ann-lee.md"])
    assert.deepStrictEqual(await keys("tea -oslo"), ["people/bo"])
    assert.deepStrictEqual(await keys('"never tea"'), ["people/bo"])
    assert.deepStrictEqual(await keys("oslo or coffee"), ["people/ann-lee.md", "people/bo"])
    assert.deepStrictEqual(await keys("lee"), ["people/ann-lee.md"])
    assert.deepStrictEqual(await keys("people/ann-lee.md"), ["people/ann-lee.md"])
    for (const q of ["...", "-", '""', "& | !", "' : *", "\\", "tea'", "nothing"])
      assert.isAtMost((await keys(q)).length, 2, q)
    assert.deepStrictEqual(await keys("..."), [])
    assert.lengthOf(await find("tea", { limit: "1" }), 1)
    const [hit] = await find("coffee")
    assert.include(hit!.snippet, "Prefers coffee")
    assert.strictEqual(hit!.version, await store.version("people/bo"))
    assert.isAbove(Number(hit!.rank), 0)
    for (const wrong of [{}, { q: "" }, { q: "q".repeat(513) }, { q: "a\0" }, { q: "a", limit: "51" }])
      assertRefused(await store.client.get(`${store.path}/search${query(wrong)}`), 400, "invalid_request")
    assert.lengthOf(await find("q".repeat(512), { limit: "50" }), 0)
    for (let i = 0; i <= limits.memorySearch.usual; i++) await store.put(`many/${i}`, "cocoa")
    assert.lengthOf(await find("cocoa"), limits.memorySearch.usual)
    assert.lengthOf(await find("cocoa", { limit: "50" }), limits.memorySearch.usual + 1)
  })
})

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

describe("limits", () => {
  it("a value has 40 KiB after decoding, and no byte more", async () => {
    const store = await ofAgent()
    const most = limits.memoryValueBytes
    const raw = (value: string) => store.client.put(`${store.path}/entry?key=k`, `{"value":"${value}"}`)
    assert.strictEqual((await store.put("k", "a".repeat(most))).status, 201)
    assertRefused(await store.put("k", "a".repeat(most + 1)), 413, "payload_too_large")
    assert.strictEqual((await raw("\\u0001".repeat(most))).status, 200)
    assert.strictEqual((await store.put("k", "ä".repeat(most / 2))).status, 200)
    assertRefused(await store.put("k", `${"ä".repeat(most / 2)}a`), 413, "payload_too_large")
    assert.strictEqual((await store.put("k", "")).body.entry.size, 0)
  })

  it("a key has 1 to 512 bytes", async () => {
    const store = await ofAgent()
    assert.strictEqual((await store.put("ä".repeat(256), "v")).status, 201)
    assertRefused(await store.put(`${"ä".repeat(256)}a`, "v"), 400, "invalid_request")
    assertRefused(await store.put("", "v"), 400, "invalid_request")
  })

  it("a store has 10,000 entries, however many come at once", async () => {
    const store = await ofWorkspace()
    await store.put("first", "v")
    await run((db) =>
      sql`update memory_stores set entries = ${limits.memoryEntries - 2} where store =
        (select store from memory_entries where key = 'first' order by created_at desc limit 1)`.execute(db)
    )
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => store.put(`more ${i}`, "v")))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 201, 409, 409, 409, 409])
    const refused = answers.find(({ status }) => status === 409)!
    assertRefused(refused, 409, "memory_full")
    // What is there is changed all the same, and what is deleted makes room for one.
    assert.strictEqual((await store.put("first", "w")).status, 200)
    assert.strictEqual((await store.delete("first")).status, 200)
    assert.strictEqual((await store.put("last", "v")).status, 201)
    assertRefused(await store.put("first", "v"), 409, "memory_full")
  })
})

describe("bad input", () => {
  it.each<[string, string, unknown]>([
    ["a key with a control character", "key=a%0Ab", { value: "v" }],
    ["a key with one of C1", "key=a%C2%85b", { value: "v" }],
    ["a key with U+0000", "key=a%00", { value: "v" }],
    ["a key that is no UTF-8", "key=a%FF", { value: "v" }],
    ["a key twice", "key=a&key=b", { value: "v" }],
    ["an unknown parameter", "key=a&path=b", { value: "v" }],
    ["no value", "key=a", {}],
    ["a value that is no text", "key=a", { value: 1 }],
    ["a value with U+0000", "key=a", { value: "a\0" }],
    ["a value with a lone surrogate", "key=a", '{"value":"\\ud800"}'],
    ["an unknown field", "key=a", { value: "v", ttl: 1 }],
    ["an empty expectedVersion", "key=a", { value: "v", expectedVersion: "" }],
    ["an expectedVersion of 513 bytes", "key=a", { value: "v", expectedVersion: "v".repeat(513) }]
  ])("%s is refused", async (_, sent, body) => {
    assertRefused(await server.alpha.put(`/v1/memory/entry?${sent}`, body), 400, "invalid_request")
  })

  it("a request about an entry says which", async () => {
    const store = await ofAgent()
    const { client, path } = store
    for (const answer of [
      await client.get(`${path}/entry`),
      await client.put(`${path}/entry`, { value: "v" }),
      await client.get(`${path}/entry/versions`),
      await client.get(`${path}/entry/versions/${another}`),
      await client.post(`${path}/entry/versions/${another}/redact`)
    ])
      assertRefused(answer, 400, "key_required")
  })

  it("of an agent that is not there nothing is found", async () => {
    const store = new Store(server.alpha, "/v1/agents/agt_01m7y1svs7e0087pe32vr71000/memory")
    for (const answer of [
      await store.client.get(store.path),
      await store.client.get(`${store.path}/search?q=a`),
      await store.get("k"),
      await store.put("k", "v"),
      await store.delete("k"),
      await store.client.get(`${store.path}/entry/versions?key=k`)
    ])
      assertRefused(answer, 404, "not_found")
  })
})

it("the memory of an archived agent is read and deleted, and not written", async () => {
  const store = await ofAgent()
  await store.put("k", "v")
  assert.strictEqual((await store.client.delete(store.path.replace(/\/memory$/, ""))).status, 204)
  assertRefused(await store.put("k", "w"), 409, "agent_archived")
  assertRefused(await store.put("l", "w"), 409, "agent_archived")
  assert.strictEqual((await store.get("k")).body.entry.value, "v")
  assert.strictEqual((await store.delete("k")).status, 200)
})

it("reads need the scope read, and writes the scope write", async () => {
  const { alpha } = server.workspaces
  const [reader, writer] = [
    new Store(await server.client(alpha, { scopes: ["read"] }), "/v1/memory"),
    new Store(await server.client(alpha, { scopes: ["write"] }), "/v1/memory")
  ]
  assertRefused(await reader.put("k", "v"), 403, "permission_denied")
  assertRefused(await reader.delete("k"), 403, "permission_denied")
  assertRefused(await writer.get("k"), 403, "permission_denied")
  assert.strictEqual((await writer.put("scoped", "v")).status, 201)
  assert.strictEqual((await reader.get("scoped")).status, 200)
})

it("a write takes one statement, and so does a read", async () => {
  const store = await ofAgent()
  const least = { put: Infinity, get: Infinity }
  await store.put("k", "0")
  for (let i = 1; i <= 4; i++) {
    const before = server.database.counts.api
    await store.put("k", String(i))
    const between = server.database.counts.api
    await store.get("k")
    least.put = Math.min(least.put, between - before)
    least.get = Math.min(least.get, server.database.counts.api - between)
  }
  assert.deepStrictEqual(least, { put: 1, get: 1 })
})

it("is of its workspace: the same key of another one is another entry", async () => {
  const [ours, theirs] = [await ofWorkspace(), await ofWorkspace()]
  const { version } = (await ours.put("k", "ours")).body.entry
  assert.strictEqual((await theirs.put("k", "theirs", "none")).status, 201)
  assert.strictEqual((await ours.get("k")).body.entry.value, "ours")
  assertRefused(await theirs.put("k", "ours", version), 409, "memory_conflict")
  assert.match(toUuid(version), /^[0-9a-f-]{36}$/)
})
