/** Memory over HTTP: entries, what writes compare, how they are found, and who may read and write them. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { another, makeStores, query, Store } from "./memoryFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const { ofAgent, ofWorkspace, stores } = makeStores(server)

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
  const key = fresh("scoped")
  assert.strictEqual((await writer.put(key, "v")).status, 201)
  assert.strictEqual((await reader.get(key)).status, 200)
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
