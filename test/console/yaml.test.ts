/** Where in a text of YAML a refusal of the server stands. */
import { assert, describe, it } from "@effect/vitest"
import { lineOf, read } from "../../console/src/parts/yaml.ts"

const text = `name: Tester
hooks:
  - point: before_tool_call
    processor: { type: url, url: "x" }
  - point: after_tool_result

limits:
  maxSteps: 9999
`

const rows: ReadonlyArray<readonly [message: string, line: number | undefined]> = [
  ["name: too long", 1],
  ["hooks: too many", 2],
  ["hooks[0].point: unknown", 3],
  ["hooks[0].processor.url: no url", 4],
  ["hooks[1]: wants a processor", 5],
  ["hooks[1].processor: missing", 5],
  ["hooks[1].processor.url: missing", 5],
  ["hooks[7]: nothing there", 2],
  ["limits.maxSteps must be at most 1000", 8],
  ["missing: wants a value", undefined],
  ["There is no such profile.", undefined],
  ["", undefined]
]

describe("the line of a refusal", () => {
  for (const [message, line] of rows)
    it(`${line === undefined ? "is not known" : `is ${line}`} for "${message}"`, () => {
      assert.strictEqual(lineOf(text, message), line)
    })
})

describe("a text that is no YAML", () => {
  it("says on which line it is wrong", () => {
    assert.include(read("name: x\nlist: [1, 2\nafter: y\n"), { line: 3 })
  })
})
