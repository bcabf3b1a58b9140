/** What a terminal is shown of the texts of others. */
import { assert, describe, it } from "vitest"
import { banner } from "../../src/cli/banner.ts"
import { table } from "../../src/cli/output.ts"
import { printableJson, printable } from "../../src/cli/printable.ts"
import { brief, shownWait } from "../../src/cli/waits.ts"

/** Every character that a terminal obeys, that turns the direction of writing, or that is not seen. */
const unsafe = [
  ...Array.from({ length: 0x20 }, (_, i) => i).filter((code) => code !== 9 && code !== 10),
  0x7f,
  ...Array.from({ length: 0x20 }, (_, i) => 0x80 + i),
  0xad,
  0x61c,
  0x180e,
  0x200b,
  0x200e,
  0x200f,
  0x2028,
  0x2029,
  0x202a,
  0x202b,
  0x202c,
  0x202d,
  0x202e,
  0x2060,
  0x2066,
  0x2067,
  0x2068,
  0x2069,
  0xfeff,
  0xfff9,
  0xe0001,
  0xe0061
].map((code) => String.fromCodePoint(code))

describe("text of others", () => {
  it.each(unsafe.map((character) => [character.codePointAt(0)!.toString(16), character]))(
    "has an escape for U+%s, in every form",
    (_, character) => {
      const text = `before${character}after`
      for (const shown of [
        printable(text),
        printableJson({ text }),
        printableJson({ [text]: 1 }, 2),
        table(["a"], [[text]])
      ]) {
        assert.notInclude(shown, character)
        assert.match(shown, /before(\\u[0-9a-f]{4}|\\[bfrt])+after/)
      }
      assert.deepStrictEqual(JSON.parse(printableJson({ text })), { text })
    }
  )

  it("that is harmless is shown as it is", () => {
    for (const text of ["Grüße, 世界", "👩‍👩‍👧", "می‌خواهم", "two\nlines\tand a tab", String.raw`C:\users`])
      assert.strictEqual(printable(text), text)
  })

  it("with half a character shows that half as an escape", () => assert.strictEqual(printable("a\ud800b"), "a\\ud800b"))

  it("holds no cell's line ends", () => assert.strictEqual(table(["a", "b"], [["x\ny", "z"]]), "A    B\nx y  z"))
})

describe("what waits", () => {
  it("is cut with a mark that says how much is missing", () => {
    assert.strictEqual(brief({ a: "short" }), `{"a":"short"}`)
    assert.strictEqual(brief(undefined), "")
    const text = brief({ a: "x".repeat(100) })
    assert.match(text, /^\{"a":"x{74}… \(28 more characters: troupe approve and -o json show all\)$/)
  })

  it("is shown to its last character to whoever approves it, and as it is", () => {
    const wait = {
      id: "wait_1",
      type: "hook_ask",
      toolName: "bank.pay",
      reason: "Above the limit\u202e",
      toolInput: { to: `${"a".repeat(5_000)}\u202egpj.exe`, deep: [[{ last: "character" }]] }
    }
    const text = shownWait(wait)
    assert.notMatch(text, /\u202e/)
    assert.include(text, "bank.pay")
    assert.include(text, "Above the limit\\u202e")
    assert.deepStrictEqual(JSON.parse(text.slice(text.indexOf("toolInput:") + 10)), wait.toolInput)
  })

  it("is shown as well where a hook asks about a message or an output", () => {
    assert.include(
      shownWait({ id: "wait_1", point: "before_turn_start", content: [{ type: "text", text: "to all" }] }),
      `"to all"`
    )
    assert.include(shownWait({ id: "wait_1", point: "after_tool_result", toolOutput: { rows: 7 } }), `"rows": 7`)
  })
})

describe("the greeting of the development server", () => {
  const key = "trp_abcdEFGH_01234567890123456789012345678901234567"
  const greet = (keyFile: string | undefined, terminal: boolean) =>
    banner({ bases: ["http://127.0.0.1:4100"], key, keyFile, terminal })

  it("shows the key on a terminal", () => {
    assert.include(greet("/data/dev-key", true), `Key        ${key}`)
    assert.include(greet("/data/dev-key", true), `Bearer ${key}"`)
  })

  it("shows elsewhere where the key is kept, and the line to paste takes it from there", () => {
    const text = greet("/it's data/dev-key", false)
    assert.notInclude(text, key)
    assert.include(text, "Key        /it's data/dev-key")
    assert.include(text, `Bearer $(cat '/it'\\''s data/dev-key')"`)
  })

  it("names the variable that gave the key", () => {
    const text = greet(undefined, false)
    assert.notInclude(text, key)
    assert.include(text, "Key        the one of TROUPE_DEV_KEY")
    assert.include(text, "Bearer $TROUPE_DEV_KEY")
  })
})
