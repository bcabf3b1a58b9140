/** How much memory holds, and what it refuses. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { limits } from "../../src/domain/limits.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { another, makeStores, Store } from "./memoryFixture.ts"

const server = await sharedServer()
const { ofAgent, ofWorkspace, run } = makeStores(server)

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
