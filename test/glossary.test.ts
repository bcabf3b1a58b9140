/** docs/glossary.md: each word once, each where it says, and what old words stood for is gone. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const textOf = (file: string) => readFileSync(join(root, file), "utf8")
const [words = "", ...others] = textOf("docs/glossary.md").split(/^## Old words$/m)
const [code = "", files = ""] = others.join("").split(/^### Files$/m)

/** The cells of tables' rows, without their heads. */
const rows = (text: string) =>
  text
    .split("\n")
    .filter((line, i, lines) => line.startsWith("| ") && !(lines[i + 1] ?? "").startsWith("|-"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
const bare = (cell = "") => cell.replaceAll("`", "")
/** What stands in backticks. */
const quoted = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)

describe("the glossary", () => {
  const told = rows(words)

  it("has each word once", () => {
    const found = told.map(([word = ""]) => word)
    assert.isAbove(found.length, 95)
    assert.deepStrictEqual(
      found.filter((word, i) => found.indexOf(word) < i),
      []
    )
  })

  it.each(told)("finds %s where it says", (word = "", _, where) => {
    const file = bare(where)
    const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "")
    assert.include(letters(file + textOf(file)), letters(word))
  })
})

describe("the words of the code", () => {
  /** Each kind of actor has its own. */
  const ofAKind = ["Command", "Context", "Draft", "Fact", "Job", "Outcome", "Snapshot", "Step"]

  it("are exported from one file each: a type's name says which thing is meant", () => {
    const files = ["machines", "actors", "src", "http"].flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => join(room, file))
    )
    const homes = new Map<string, Set<string>>()
    for (const file of files) {
      for (const [, word = ""] of textOf(file).matchAll(
        /^export (?:abstract )?(?:class|const|interface|type) ([A-Z]\w*)/gm
      ))
        homes.set(word, (homes.get(word) ?? new Set()).add(file))
    }
    assert.isAbove(homes.size, 500)
    assert.deepStrictEqual(
      [...homes].filter(([word, { size }]) => size > 1 && !ofAKind.includes(word)),
      []
    )
  })
})

describe("the old words", () => {
  it.each(rows(code))("%s is %s", (old, now = "") => {
    const found = [...now.matchAll(/`(\w+)`[^`]*(?:`\w+`\) )?in `([^`]+)`/g)]
    assert.strictEqual(found.length, now.split(" in `").length - 1)
    assert.isNotEmpty(found)
    for (const [, word = "", file = ""] of found) {
      const text = textOf(file)
      assert.match(text, new RegExp(`\\b${word}\\b`))
      assert.notMatch(text, new RegExp(`\\b(?:const|type|interface|class) ${bare(old)}\\b(?=[^,}]*[={])`))
    }
  })

  it.each(rows(files))("%s is gone, %s is there", (old = "", now) => {
    for (const group of old.split("; ")) {
      const [first = "", ...more] = group.split(", ")
      const folder = first.slice(0, first.lastIndexOf("/") + 1)
      for (const path of [first, ...more.map((name) => folder + name)])
        assert.isFalse(existsSync(join(root, `${path}.ts`)), path)
    }
    assert.isTrue(existsSync(join(root, quoted(now)[0] ?? "")), now)
  })
})
