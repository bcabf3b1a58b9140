/** Text of others as people see it (console/src/parts/visible.ts): nothing is said in characters that are not drawn. */
import { assert, describe, it } from "@effect/vitest"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import ReactMarkdown from "react-markdown"
import { jsonText } from "../../console/src/parts/jsonText.ts"
import { rehypeVisible } from "../../console/src/parts/rehypeVisible.ts"
import { visible, visibleLine } from "../../console/src/parts/visible.ts"

const named = (point: number) => `⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩`

const unseen = [
  ["controls", [0x00, 0x08, 0x1b, 0x7f, 0x85]],
  ["marks of direction", [0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069]],
  ["characters without a width", [0xad, 0x34f, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064, 0xfeff]],
  ["fillers", [0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x2800, 0x3164, 0xffa0]],
  ["tags", [0xe0000, 0xe0001, 0xe0020, 0xe0041, 0xe007f]],
  ["selectors of a form that there is not", [0x180b, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef]],
  ["separators and annotations", [0x2028, 0x2029, 0xfff9, 0xfffb]]
] as const

describe("what nobody sees", () => {
  it.each(unseen)("is shown by its name: %s", (_, points) => {
    for (const point of points) {
      const character = String.fromCodePoint(point)
      assert.strictEqual(visible(`a${character}b`), `a${named(point)}b`)
      assert.strictEqual(visible(character.repeat(3)), named(point).repeat(3))
    }
  })

  it("is left where it does what it is for", () => {
    for (const text of [
      "line\n\tline\r\n",
      "👩‍💻 ❤️ ☎︎ 1️⃣ 🏳️‍🌈 👍🏽",
      // England's flag is made of tags.
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "می‌خواهم",
      "क्‍ष",
      "葛\u{e0100}",
      "ᠠ᠋",
      "Ünï — “quoted” naïve café 漢字 한국어"
    ])
      assert.strictEqual(visible(text), text)
  })

  it("is shown where it only stands behind what could take it", () => {
    assert.strictEqual(visible("👍\ufe0f\ufe01"), "👍\ufe0f⟨U+FE01⟩")
    assert.strictEqual(visible("葛\u{e0100}\u{e0101}"), "葛\u{e0100}⟨U+E0101⟩")
    assert.strictEqual(visible("می‌‌خ"), "می⟨U+200C⟩⟨U+200C⟩خ")
    assert.strictEqual(visible("🏴\u{e0041}\u{e007f}"), "🏴⟨U+E0041⟩⟨U+E007F⟩")
    assert.strictEqual(visible("👩\u200d"), "👩⟨U+200D⟩")
  })

  it("is shown on one line, too", () => {
    assert.strictEqual(visibleLine("a\n\u00adb\u2028c"), "a ⟨U+00AD⟩b⟨U+2028⟩c")
  })

  it("is found in long texts at once", () => {
    const { system, user } = process.threadCpuUsage()
    visible(`${"👩‍💻".repeat(50_000)}${"é".repeat(50_000)}\u200b`)
    const now = process.threadCpuUsage()
    assert.isBelow((now.user - user + now.system - system) / 1_000, 3_000)
  })
})

describe("Markdown", () => {
  const shown = (text: string) =>
    renderToStaticMarkup(
      createElement(ReactMarkdown, { rehypePlugins: [rehypeVisible], urlTransform: (url) => url }, text)
    )

  it("shows what its references stand for", () => {
    for (const text of ["a&#x202e;b", "a&shy;b", "`a\u202eb`", "![a&#x202e;b](x)", "[c](d 'e') a\u202eb"])
      assert.match(shown(text), /a⟨U\+(?:202E|00AD)⟩b/, text)
  })

  it("has nothing unseen in where a link leads", () => {
    assert.notMatch(shown("[a](https://example.com/&#x202e;cod)"), /\u202e/)
  })
})

describe("JSON", () => {
  const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)

  it("is indented, and written on one line where it nests so deeply that lines would be blanks", () => {
    assert.strictEqual(jsonText({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}')
    assert.strictEqual(jsonText(undefined), "undefined")
    assert.include(jsonText(nested(100)), "\n")
    for (const levels of [102, 4_000]) assert.lengthOf(jsonText(nested(levels)), 2 * levels)
    // Deeper than any browser's writer goes: in words, or written anyway.
    assert.notInclude(jsonText(nested(200_000)), "\n")
  })
})
