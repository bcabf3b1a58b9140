/** Text of others as Markdown: what the console lets the parser have is read at once, whatever it is. */
import { assert, describe, it } from "@effect/vitest"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import ReactMarkdown from "react-markdown"
import remarkGfm from "remark-gfm"
import { isTame } from "../../console/src/parts/tame.ts"

/** What reading it takes of the thread itself, in ms: it may have been made to wait. */
const read = (text: string) => {
  const { system, user } = process.threadCpuUsage()
  renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, text))
  const now = process.threadCpuUsage()
  return (now.user - user + now.system - system) / 1_000
}

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n")

describe("text of others", () => {
  it.each([
    ["prose with programs", "Some *words* with `snake_case_names` and [a link](https://example.com).\n\n".repeat(400)],
    ["a large table", lines(300, (i) => (i === 1 ? "|-".repeat(10) : `${"| a ".repeat(10)}|`))],
    ["lists in lists", lines(40, (i) => `${" ".repeat(2 * (i % 8))}- item`)],
    ["quotes in quotes, as deep as is read", ">".repeat(100)]
  ])("is read: %s", (_, text) => {
    assert.isTrue(isTame(text))
    assert.isBelow(read(text), 3_000)
  })

  it.each([
    ["marks that may open emphasis", "*a_ ".repeat(16_000)],
    ["quotes in quotes", ">".repeat(20_000)],
    ["quotes in lists, behind other text", `text\n\n${"- > 1. ".repeat(8_000)}`],
    ["images in images", "![".repeat(8_000) + "a" + "](b)".repeat(8_000)],
    ["links that never end", "[".repeat(60_000)],
    ["lists that go on and on", lines(300, (i) => `${" ".repeat(2 * i)}- a`)],
    ["a row that never ends", `${"|a".repeat(10_000)}\n${"|-".repeat(10_000)}`],
    ["code that never ends", "`".repeat(30_000) + "a ``".repeat(8_000)],
    ["links of words", "<a".repeat(30_000)],
    ["as many as are read", "*a_ ".repeat(1_250) + "[".repeat(2_000)]
  ])("takes no time that anybody notices, or is not read: %s", (_, text) => {
    if (isTame(text)) assert.isBelow(read(text), 3_000)
  })

  it("that would stop the page is not read", () => {
    for (const text of ["*a_ ".repeat(4_000), ">".repeat(101), "![".repeat(301), "|".repeat(6_001)])
      assert.isFalse(isTame(text))
  })
})
