/** The house rules that can be measured: sizes of files, functions and lines; casts; circles of folders. */
import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { root, textOf } from "./repository.ts"

const files = globSync("{src,actors,machines,http}/**/*.ts", { cwd: root })
  // Made of the OpenAPI document.
  .filter((file) => file !== "src/client/types.ts")
  .sort()
const consoleFiles = globSync("console/src/**/*.{ts,tsx}", { cwd: root }).sort()
const testFiles = globSync("{test,bench}/**/*.{ts,mjs}", { cwd: root }).sort()

/** Neither empty nor a comment. */
const isCode = (line: string) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)

interface Measured {
  /** Functions, by where each begins, with their lines of code but those of the functions that they hold. */
  readonly functions: Map<string, number>
  readonly casts: Array<string>
  readonly bangs: Array<string>
  readonly anys: Array<string>
}

type Span = readonly [first: number, last: number]

/** The lines of a file's functions, casts and the like. */
const measure = (file: string, into: Measured) => {
  const text = textOf(file)
  const lines = text.split("\n")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false)
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const spanOf = (node: ts.Node): Span => [lineAt(node.getStart(source)), lineAt(node.getEnd())]
  const at = (node: ts.Node) => `${file}: ${(lines[spanOf(node)[1]] ?? "").trim()}`

  /** Says which lines functions have that stand in a node. */
  const visit = (node: ts.Node): ReadonlyArray<Span> => {
    const held: Array<Span> = []
    ts.forEachChild(node, (child) => {
      held.push(...visit(child))
    })
    if (ts.isAsExpression(node) && node.type.getText(source) !== "const") into.casts.push(at(node))
    if (ts.isNonNullExpression(node)) into.bangs.push(at(node))
    if (node.kind === ts.SyntaxKind.AnyKeyword) into.anys.push(at(node))
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return held
    const [first, last] = spanOf(node)
    // Where a held one begins there is its name.
    const isHeld = (line: number) => held.some(([from, to]) => from < line && line <= to)
    let own = 0
    for (let line = first; line <= last; line++) if (isCode(lines[line] ?? "") && !isHeld(line)) own++
    into.functions.set(`${file}:${first + 1}`, own)
    return [[first, last]]
  }
  visit(source)
}

const measured: Measured = { functions: new Map(), casts: [], bangs: [], anys: [] }
for (const file of [...files, ...consoleFiles]) measure(file, measured)

const tooLong = (some: ReadonlyArray<string>) => some.filter((file) => textOf(file).trimEnd().split("\n").length > 400)

describe("a file of tests, or of the benchmark", () => {
  it("has at most 400 lines", () => {
    assert.isAbove(testFiles.length, 500)
    assert.deepStrictEqual(tooLong(testFiles), [])
  })
})

describe("a file of the program", () => {
  it("has at most 400 lines", () => {
    assert.isAbove(files.length, 500)
    assert.isAbove(consoleFiles.length, 100)
    const styles = globSync("console/src/**/*.css", { cwd: root })
    assert.deepStrictEqual(tooLong([...files, ...consoleFiles, ...styles]), [])
  })

  it("has lines of at most 120 characters, but for addresses, patterns and migrations, which never change", () => {
    const long = [...files, ...consoleFiles]
      .filter((file) => !file.startsWith("src/database/migrations/"))
      .flatMap((file) =>
        textOf(file)
          .split("\n")
          .flatMap((line, i) => (line.length > 120 && !/:\/\/|^\s*[/`]\S*[\\|]/.test(line) ? [`${file}:${i + 1}`] : []))
      )
    assert.deepStrictEqual(long, [])
  })

  it("has functions of at most 80 lines of code, without the functions that they hold", () => {
    assert.isAbove(measured.functions.size, 3_000)
    assert.deepStrictEqual(
      [...measured.functions].filter(([, lines]) => lines > 80),
      []
    )
  })
})

/** Files with casts, how many, and what makes the compiler need them. */
const casts: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "actors/identity/layer.ts": [1, "an answer's text, made by the kind itself"],
  "actors/schedule/facts.ts": [2, "the journal holds what was written to it"],
  "actors/schedule/perform.ts": [1, "an answer's text, made by the thread itself"],
  "actors/subscription/kind.ts": [1, "the journal holds what was written to it"],
  "actors/thread/replies/rows.ts": [3, "the journal holds what was written to it"],
  "actors/thread/settings.ts": [1, "the journal holds what was written to it"],
  "console/src/parts/keysOf.ts": [1, "Object.keys forgets which names a type has"],
  "console/src/threads/ThreadLog.ts": [3, "a frame's data is what its name says, by the contract of the stream"],
  "machines/step.ts": [3, "XState erases the parameters of actions, and reads types from a value"],
  "src/domain/failure.ts": [1, "`includes` of a list of literals takes only these"]
}

describe("the compiler", () => {
  it("is overruled by a cast only where it is said why", () => {
    const found = Object.groupBy(measured.casts, (cast) => cast.slice(0, cast.indexOf(":")))
    assert.deepStrictEqual(
      Object.fromEntries(Object.entries(found).map(([file, of = []]) => [file, of.length])),
      Object.fromEntries(Object.entries(casts).map(([file, [count]]) => [file, count]))
    )
  })

  it("is never switched off by `any`", () => {
    assert.deepStrictEqual(measured.anys, [])
  })

  it("is told of an element that is there by `!` in few places: bytes, and loops over places of arrays", () => {
    assert.isAtMost(measured.bangs.length, 60)
  })
})

/**
 * Files that compose, and so stand in a circle with all that they know: the program; and the contract as one value,
 * which the handlers of every group need whole, because `HttpApiBuilder.group` takes it.
 */
const composing = ["src/main.ts", "http/Api.ts"]

/** Where the ways to two files part: the children of one folder, or of the root, that hold them. */
const parting = (one: string, other: string): readonly [string, string] => {
  const [from, to] = [one.split("/"), other.split("/")]
  const depth = from.findIndex((name, i) => name !== to[i]) + 1
  return [from.slice(0, depth).join("/"), to.slice(0, depth).join("/")]
}

describe("what stands in one folder, its files and its folders with all that they hold,", () => {
  it("imports each other in no circle", () => {
    const imports = new Map<string, Set<string>>()
    for (const file of [...files, ...consoleFiles].filter((file) => !composing.includes(file))) {
      for (const [, path = ""] of textOf(file).matchAll(/(?:from|import)[ (]*"(\.{1,2}\/[^"]+\.tsx?)"/g)) {
        const [from, to] = parting(file, join(dirname(file), path))
        if (composing.includes(to)) continue
        imports.set(from, (imports.get(from) ?? new Set<string>()).add(to))
      }
    }
    assert.isAbove(imports.size, 500)
    // Takes away those that import none of those that are left: what stays is in a circle, or imports one that is.
    for (let taken = true; taken; ) {
      taken = false
      for (const [one, of] of imports) if (![...of].some((other) => imports.has(other))) taken = imports.delete(one)
    }
    assert.deepStrictEqual([...imports.keys()], [])
  })
})

describe("the invariants", () => {
  /** Letter and number of an invariant, where its text begins: `H1. …` in a header. */
  const named = /^ \* ([A-Z]+\d+)\. /gm

  it("have a number of their own in each folder", () => {
    const homes = new Map<string, Array<string>>()
    for (const file of files)
      for (const [, name = ""] of textOf(file).matchAll(named)) {
        const key = `${dirname(file)} ${name}`
        homes.set(key, [...(homes.get(key) ?? []), file])
      }
    assert.isAbove(homes.size, 100)
    assert.deepStrictEqual(
      [...homes].filter(([, { length }]) => length > 1),
      []
    )
  })
})
