/** docs/glossary.md: each word once, each where it says, and what old words stood for is gone. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { root, textOf } from "./repository.ts"

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

const sources = ["machines", "actors", "src", "http"].flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(room, file))
)

describe("the words of the code", () => {
  interface Convention {
    readonly why: string
    readonly words: ReadonlyArray<string>
    /** Files that may have them; with a group, each what the group stands for once. */
    readonly where: RegExp
  }

  /** Words that several files export, because whoever knows one of these files knows the others by them. */
  const conventions: ReadonlyArray<Convention> = [
    {
      why: "the chart of each kind of actor, and what goes in and out of it",
      words: [
        ...["blank", "causes", "chart", "Command", "configure", "Context", "contextOf", "decide", "Draft", "evolve"],
        ...["Fact", "guards", "isPublic", "Job", "poison", "restore", "resume", "Snapshot", "start", "stateOf", "Step"]
      ],
      where: /^machines\/(?:(identity|schedule|subscription|thread)\/|step\.ts$)/
    },
    {
      why: "what each kind of actor brings to its host",
      words: [
        ...["announcedBy", "decodeRequest", "factOf", "makePerform", "makePrepare", "Outcome", "row", "settledIn"]
      ],
      where: /^actors\/(identity|schedule|subscription|thread)\//
    },
    { why: "the one layer of a module, imported under the module's name", words: ["layer"], where: /(.*)/ },
    { why: "a migration", words: ["up"], where: /^src\/database\/migrations\/(.*)/ },
    {
      why: "the same refusal, in the words of the noun that refuses",
      words: ["agentArchived", "feedArchived", "modelNotInProfile"],
      where: /^src\/(\w+)\/refusals\.ts$/
    }
  ]

  const homes = new Map<string, ReadonlyArray<string>>()
  for (const file of sources) {
    const exported = textOf(file).matchAll(
      /^export (?:abstract |async )?(?:class|const|function\*?|interface|type) (\w+)/gm
    )
    for (const word of new Set([...exported].map(([, word = ""]) => word)))
      homes.set(word, [...(homes.get(word) ?? []), file])
  }
  const shared = [...homes].filter(([, files]) => files.length > 1)

  it("are exported from one file each: a name says which thing is meant", () => {
    assert.isAbove(homes.size, 2_400)
    const isAllowed = ([word, files]: readonly [string, ReadonlyArray<string>]) =>
      conventions.some(({ where, words }) => {
        const found = files.map((file) => where.exec(file)?.[1] ?? (where.test(file) ? file : undefined))
        return words.includes(word) && !found.includes(undefined) && new Set(found).size === files.length
      })
    assert.deepStrictEqual(
      shared.filter((word) => !isAllowed(word)),
      []
    )
  })

  it.each(conventions)("are shared as $why", ({ words }) => {
    const found = new Set(shared.map(([word]) => word))
    assert.deepStrictEqual(
      words.filter((word) => !found.has(word)),
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
      assert.notMatch(
        text,
        new RegExp(`^(?:export )?(?:const|type|interface|class) ${bare(old)}\\b(?=[^,}]*[={])`, "m")
      )
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

  it("name nothing any more, but what is stored or sent", () => {
    const gone = ["again", "asked", "carryIn", "carryOf", "deliver", "goOn", "lost", "placeOf", "say", "told"]
    const names = (line: string, word: string) =>
      new RegExp(
        `\\b(?:const|let|function) ${word}\\b|\\breadonly ${word}\\??:|(?:^\\s*|[({,] ?|\\.\\.\\.)${word}(?: =|\\??:|[,)])`
      ).test(line)
    const found = sources
      .filter((file) => file !== "src/client/types.ts")
      .flatMap((file) => {
        const lines = textOf(file)
          .split("\n")
          .filter((line) => !/^\s*(?:\*|\/\*|\/\/)/.test(line))
          .map((line) => line.replaceAll(/"[^"]*"|`[^`]*`/g, '""'))
        return gone.filter((word) => lines.some((line) => names(line, word))).map((word) => `${word} in ${file}`)
      })
    assert.deepStrictEqual(found.toSorted(), [
      // Of messages between nodes.
      "again in actors/Router.ts",
      "again in actors/answering.ts",
      "again in actors/forwarding.ts",
      "again in actors/messages.ts",
      // Of threads' attributes.
      "asked in actors/thread/perform.ts",
      "asked in actors/thread/settings.ts",
      "asked in actors/thread/tools/families/agents.ts",
      "asked in actors/thread/waitAnswers.ts",
      "asked in src/threads/detail.ts"
    ])
  })
})
