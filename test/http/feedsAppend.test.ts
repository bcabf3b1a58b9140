/** Appends to feeds: gapless, once, all or none, at their limits. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { fresh } from "./toolFixture.ts"

const server = await during(startServer({ name: "one" }))
const other = await during(startServer({ beside: server, name: "two" }))

const makeFeed = async (): Promise<string> => {
  const made = await server.alpha.post("/v1/feeds", { name: fresh("feed") })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed.id
}
const append = (client: Client, feedId: string, messages: ReadonlyArray<object>, more: object = {}, headers = {}) =>
  client.post(`/v1/feeds/${feedId}/messages`, { messages, ...more }, headers)

interface Message {
  readonly seq: number
  readonly text: string
  readonly dedupeKey?: string
}
const all = async (feedId: string) => {
  const found: Array<Message> = []
  let startSeq: number | undefined = 1
  while (startSeq !== undefined) {
    const { body }: Awaited<ReturnType<Client["get"]>> = await server.alpha.get(
      `/v1/feeds/${feedId}/messages?limit=200&startSeq=${startSeq}`
    )
    found.push(...body.messages)
    startSeq = body.nextSeq
  }
  return found
}

describe("appends of many clients on two nodes", () => {
  it("leave no gap, and every message that was acknowledged stands once, where the answer said", async () => {
    const feedId = await makeFeed()
    const clients = [server.alpha, new Client(other.base, server.alpha.token)]
    const told = new Map<string, number>()
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 10; round++) {
          const messages = Array.from({ length: 1 + ((writer + round) % 5) }, (_, i) => ({
            text: `${writer} ${round} ${i}`,
            ...(i % 2 === 0 && { dedupeKey: `shared ${round} ${i}` })
          }))
          const { body, status, text } = await append(clients[writer % 2]!, feedId, messages)
          assert.include([200, 201], status, text)
          for (const [i, { seq }] of body.messages.entries())
            told.set(messages[i]?.dedupeKey ?? messages[i]?.text ?? "", seq)
        }
      })
    )
    const found = await all(feedId)
    assert.deepStrictEqual(
      found.map(({ seq }) => seq),
      found.map((_, i) => i + 1)
    )
    assert.deepStrictEqual(
      new Map(found.map(({ dedupeKey, seq, text }) => [dedupeKey ?? text, seq])),
      new Map([...told].toSorted(([, a], [, b]) => a - b))
    )
    assert.strictEqual(found.length, told.size)
  })

  it("that expect the same last seq are one", async () => {
    const feedId = await makeFeed()
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        append(i % 2 === 0 ? server.alpha : new Client(other.base, server.alpha.token), feedId, [{ text: `${i}` }], {
          expectedLastSeq: 0
        })
      )
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409, 409])
    assert.strictEqual((await all(feedId)).length, 1)
    for (const answer of answers) if (answer.status === 409) refusedAt(answer, 409, "feed_conflict", "expectedLastSeq")
  })
})

describe("a repeated message", () => {
  it("with a key that came before has the old seq, also twice in one request", async () => {
    const feedId = await makeFeed()
    const first = await append(server.alpha, feedId, [
      { text: "a", dedupeKey: "k" },
      { text: "b", dedupeKey: "k" },
      { text: "c" }
    ])
    assert.deepStrictEqual(first.body, {
      messages: [{ seq: 1 }, { seq: 1, duplicate: true }, { seq: 2 }],
      startSeq: 1,
      endSeq: 2
    })
    const again = await append(server.alpha, feedId, [{ text: "a", dedupeKey: "k" }])
    assert.deepStrictEqual([again.status, again.body], [200, { messages: [{ seq: 1, duplicate: true }] }])
    const otherFeed = await makeFeed()
    assert.strictEqual((await append(server.alpha, otherFeed, [{ text: "a", dedupeKey: "k" }])).status, 201)
  })

  it("under one Idempotency-Key has the first answer, and is appended once", async () => {
    const feedId = await makeFeed()
    const headers = { "idempotency-key": fresh("append") }
    const first = await append(server.alpha, feedId, [{ text: "a" }], {}, headers)
    const second = await append(server.alpha, feedId, [{ text: "a" }], {}, headers)
    assert.deepStrictEqual([second.status, second.body], [first.status, first.body])
    assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
    assert.strictEqual((await all(feedId)).length, 1)
  })
})

describe("an append", () => {
  const many = (count: number, text: string) => Array.from({ length: count }, () => ({ text }))
  const kib32 = "x".repeat(limits.feedTextBytes)
  const data = (bytes: number) => "x".repeat(bytes - 2)
  it.each([
    ["no message", [], "messages"],
    ["100 messages", many(100, "a"), undefined],
    ["101 messages", many(101, "a"), "messages"],
    ["an empty text", [{ text: "" }], "messages[0].text"],
    ["a text of 32 KiB", [{ text: kib32 }], undefined],
    ["a text of one byte more", [{ text: `${kib32}x` }], "messages[0].text"],
    ["256 KiB of text", many(8, kib32), undefined],
    ["256 KiB of text and a tag", [...many(7, kib32), { text: kib32, tags: ["t"] }], "messages"],
    ["data of 8 KiB", [{ text: "a", data: data(limits.feedDataBytes) }], undefined],
    ["data of one byte more", [{ text: "a", data: data(limits.feedDataBytes + 1) }], "messages[0].data"],
    ["a key of 255 characters", [{ text: "a", dedupeKey: "é".repeat(255) }], undefined],
    ["a key of 256", [{ text: "a", dedupeKey: "é".repeat(256) }], "messages[0].dedupeKey"],
    ["17 tags", [{ text: "a", tags: Array.from({ length: 17 }, (_, i) => `${i}`) }], "messages[0].tags"],
    ["U+0000", [{ text: "a\0b" }], "messages[0].text"],
    ["half a character", [{ text: "a\ud800b" }], "messages[0].text"],
    ["a field that there is not", [{ text: "a", seq: 4 }], "messages[0].seq"]
  ])("of %s is taken or refused", async (_, messages, path) => {
    const answer = await append(server.alpha, await makeFeed(), messages)
    if (path === undefined) assert.strictEqual(answer.status, 201, answer.text.slice(0, 500))
    else refusedAt(answer, 400, "invalid_request", path)
  })

  it("of more than 1 MiB is taken, up to 4 MiB", async () => {
    const feedId = await makeFeed()
    const messages = Array.from({ length: 100 }, () => ({ text: "\u0001".repeat(2600), data: data(8000) }))
    assert.isAbove(JSON.stringify({ messages }).length, 2 * limits.bodyBytes)
    assert.strictEqual((await append(server.alpha, feedId, messages)).status, 201)
    refused(
      await append(server.alpha, feedId, [{ text: "a", data: "x".repeat(limits.feedBodyBytes) }]),
      413,
      "payload_too_large"
    )
  })
})
