import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { long, phrases, short, shorthand } from "../../src/database/shorthand.ts"
import { ownConnection } from "../setup/database.ts"

/** JSON that says our phrases as structure, as text and as text within text, in any order. */
const told = fc
  .array(fc.oneof(fc.constantFrom(...phrases), fc.json(), fc.string({ unit: "binary" })))
  .map((parts) => parts.join(""))
const json = fc.oneof(
  fc.json(),
  told.map((text) => JSON.stringify(text)),
  told.map((text) => JSON.stringify({ [text]: [JSON.stringify(text)] }))
)

describe("the journal's shorthand", () => {
  it("gives every JSON text back as it was", () => {
    fc.assert(
      fc.property(json, (text) => {
        assert.strictEqual(long(short(text)), text)
        assert.isAtMost(short(text).length, text.length)
      })
    )
    const spaced = '{\n\t"usage": 1,\r\n"usage":{"inputTokens":1}}'
    assert.strictEqual(long(short(spaced)), spaced)
  })

  it("finds each phrase that a text holds, from its beginning on", () => {
    const anyPhrase = new RegExp(phrases.map((phrase) => phrase.replace(/[[\]{}]/g, "\\$&")).join("|"), "g")
    const cut = fc.constantFrom(...phrases).chain((phrase) => fc.nat(phrase.length).map((n) => phrase.slice(0, n)))
    fc.assert(
      fc.property(fc.array(fc.oneof(told, cut)), (parts) => {
        const text = parts.join("")
        const expected = text.replace(anyPhrase, (found) => shorthand.find(([, phrase]) => phrase === found)?.[0] ?? "")
        assert.strictEqual(short(text), expected)
      })
    )
  })

  it("has no phrase that begins another", () => {
    for (const phrase of phrases)
      assert.isUndefined(phrases.find((other) => other !== phrase && other.startsWith(phrase)))
  })

  it("says each of its phrases in one character, and keeps none for itself", () => {
    for (const [sign, phrase] of shorthand) {
      assert.strictEqual(short(phrase), sign)
      assert.strictEqual(long(sign), phrase)
    }
    assert.strictEqual(new Set(shorthand.map(([sign]) => sign)).size, phrases.length)
  })

  describe("in SQL", async () => {
    const client = await ownConnection()

    it("is read by readable", async () => {
      const texts = [
        ...phrases.map((phrase) => JSON.stringify({ phrase })),
        `{"content":[{"type":"text","text":"a ' \\\\ b"}],"principal":{"type":"api_key","id":"key_1"},"submitMode":"queue","inputId":"inp_1"}`,
        `{"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3,"estimatedCost":0},"principal":{"type":"user","id":"1"}}`
      ]
      const { rows } = await client.query(
        "select readable(t)::text as text from unnest($1::text[]) with ordinality as t(t, n) order by n",
        [texts.map(short)]
      )
      assert.deepStrictEqual(
        rows,
        texts.map((text) => ({ text }))
      )
    })
  })
})
