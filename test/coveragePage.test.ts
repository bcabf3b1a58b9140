/** docs/api-coverage.md: a test for each rule that is built, each operation, each word of a refusal; and it is there. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { operations } from "./http/specification/operations.ts"
import { root, textOf } from "./repository.ts"

const [built = ""] = textOf("docs/contract.md").split(/^# Not built yet$/m)
const [rules = "", operationRows = ""] = textOf("docs/api-coverage.md").split(/^# Operations$/m)

interface Row {
  readonly name: string
  readonly files: ReadonlyArray<string>
  readonly titles: ReadonlyArray<string>
}
const rowsOf = (text: string): ReadonlyArray<Row> =>
  text
    .split("\n")
    .filter((line) => /^\| (?:C\d|[A-Z]+ \/)/.test(line))
    .map((line) => {
      const [name = "", files = "", titles = ""] = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("\\|", "|"))
      return { name, files: files.split("<br>"), titles: titles.split("<br>") }
    })

const proofs = [...rowsOf(rules), ...rowsOf(operationRows)]
/** What no test can show within reason, with the file that holds it. */
const words = /^by construction: (?:[\w./-]+)/
/** The text of a string in a program. */
const isTitle = (program: string, title: string) =>
  ['"', "`", "'"].some((mark) => program.includes(mark + title + mark))

describe("the table of what proves the interface", () => {
  it("has each rule that is built once, in order", () => {
    const numbers = [...built.matchAll(/^(?:\| |- \*\*)(C\d+\.\d+)(?: \||\*\*)/gm)].map(([, number = ""]) => number)
    assert.deepStrictEqual(
      rowsOf(rules).map(({ name }) => name),
      numbers
    )
  })

  it("has each operation that is served once, in order, and those of the specification among them", () => {
    const { paths } = JSON.parse(textOf("docs/openapi.json")) as { readonly paths: Readonly<Record<string, object>> }
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    )
    assert.deepStrictEqual(
      rowsOf(operationRows).map(({ name }) => name),
      served
    )
    for (const { later, method, path } of operations)
      if (later !== true) assert.include(served, `${method.toUpperCase()} ${path}`)
  })

  it("names tests that are there, one file for all or one for each", () => {
    for (const { files, name, titles } of proofs) {
      assert.isAtMost(titles.length, 2, name)
      if (words.test(titles.join())) continue
      assert.isTrue(files.length === 1 || files.length === titles.length, name)
      for (const [i, title] of titles.entries()) {
        const file = files[files.length === 1 ? 0 : i] ?? ""
        assert.match(file, /^test\/.+\.test\.ts$/, name)
        assert.isTrue(existsSync(join(root, file)), `${name}: ${file}`)
        const program = textOf(file)
        for (const part of title.split(" > ")) assert.isTrue(isTitle(program, part), `${name}: ${file}: ${part}`)
      }
    }
  })

  it("leaves to words only what a handful of rules say", () => {
    const told = proofs.filter(({ titles }) => words.test(titles.join()))
    assert.isAtMost(told.length, 8)
    for (const { name, titles } of told) {
      const [, file = ""] = /^by construction: ([\w./-]+)/.exec(titles.join()) ?? []
      assert.isTrue(existsSync(join(root, file)), `${name}: ${file}`)
    }
  })
})

/** Whose body was cut off hears nothing any more. */
const unheard = new Set(["truncated_body"])

it("the words and codes of refusals have a test that reads them in an answer", () => {
  const tests = globSync("test/http/*.test.ts", { cwd: root }).map(textOf).join("\n")
  const [, part = ""] = /^## 3 Errors$(.*?)^## /ms.exec(built) ?? []
  const told = [...part.matchAll(/^\| C3\.\d+ \| \d+ \|(.*)\|$/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z_]+)`/g)])
    .map(([, word = ""]) => word)
  assert.isAbove(told.length, 100)
  assert.deepStrictEqual(
    told.filter((word) => !unheard.has(word) && !tests.includes(`"${word}"`)),
    []
  )
})
