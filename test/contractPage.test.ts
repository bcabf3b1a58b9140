/**
 * docs/contract.md: its numbers can be cited, what cites them cites a rule that is there, and it says the limits, words
 * and codes that the code has.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { statuses } from "../http/errors.ts"
import { servedFamilies } from "../src/agents/profile.ts"
import { failureCodes } from "../src/domain/failure.ts"
import { prefixes } from "../src/domain/ids.ts"
import { limits, pages } from "../src/domain/limits.ts"
import { root, said, textOf } from "./repository.ts"

const page = textOf("docs/contract.md")
const [built = "", later = ""] = page.split(/^# Not built yet$/m)

/** Where a rule stands: at the beginning of a row or of an entry of a list. */
const numbersIn = (text: string) => [...text.matchAll(/^(?:\| |- \*\*)C(\d+)\.(\d+)(?: \||\*\*)/gm)].map(whole)
const whole = ([, part = "", rule = ""]: RegExpExecArray) => ({ part: Number(part), rule: Number(rule) })
const named = ({ part, rule }: { readonly part: number; readonly rule: number }) => `C${part}.${rule}`

/** The parts of a text, each with the number of its heading. */
const partsOf = (text: string) =>
  text
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ number: Number.parseInt(part, 10), text: part }))
const part = (number: number) =>
  partsOf(page).find((found) => found.number === number)?.text ?? assert.fail(`there is no part ${number}`)
/** What stands in backticks. */
const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)

interface Group {
  readonly [name: string]: number | Group
}
const leaves = (group: Group, before = ""): ReadonlyArray<readonly [name: string, value: number]> =>
  Object.entries(group).flatMap(([name, value]) =>
    typeof value === "number" ? [[before + name, value] as const] : leaves(value, `${before}${name}.`)
  )

interface Row {
  readonly number: string
  readonly value: string
  readonly unit: string
  readonly name: string
  readonly file: string
}
const limitRows: ReadonlyArray<Row> = part(25)
  .split("\n")
  .filter((line) => line.startsWith("| C"))
  .map((line) => {
    const [number = "", , value = "", unit = "", name = "", file = ""] = line
      .slice(2)
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", ""))
    return { number, value, unit, name, file }
  })

const sources = globSync("{src,machines,actors,http,test,bench,docs}/**/*.{ts,mjs,md}", { cwd: root }).concat(
  "README.md"
)

describe("the numbers of the contract", () => {
  it("stand once each", () => {
    const seen = numbersIn(page).map(named)
    assert.isAbove(seen.length, 400)
    assert.deepStrictEqual(
      seen.filter((number, i) => seen.indexOf(number) < i),
      []
    )
  })

  it.each([
    ["what is built", built],
    ["what is not", later]
  ])("are in order in %s, each in its own part", (_, text) => {
    const parts = partsOf(text)
    const order = parts.map(({ number }) => number)
    assert.deepStrictEqual(
      order,
      order.toSorted((a, b) => a - b)
    )
    for (const { number, text } of parts) {
      const found = numbersIn(text)
      assert.isNotEmpty(found, `part ${number} has no rule`)
      assert.deepStrictEqual(
        found.filter(({ part }) => part !== number),
        []
      )
      const rules = found.map(({ rule }) => rule)
      assert.deepStrictEqual(
        rules,
        rules.toSorted((a, b) => a - b),
        `part ${number}`
      )
    }
  })

  it("that are cited are there", () => {
    const known = new Set(numbersIn(page).map(named))
    const dangling = sources.flatMap((file) =>
      [...textOf(file).matchAll(/\bC(\d+)\.(\d+)\b/g)]
        .map(whole)
        .map(named)
        .filter((number) => !known.has(number))
        .map((number) => `${file}: ${number}`)
    )
    assert.deepStrictEqual(dangling, [])
  })

  it("are what is cited: no text that is not here", () => {
    const strange = sources.filter((file) => /\((?:specification|design)[,)]/.test(textOf(file)))
    assert.deepStrictEqual(strange, [])
  })

  it("are cited from the code, and parts that are named exist", () => {
    const citing = sources.filter((file) => file.endsWith(".ts") && /\bcontract C\d+\.\d+\b/.test(textOf(file)))
    assert.isAbove(citing.length, 20)
    const numbers = new Set(partsOf(page).map(({ number }) => number))
    for (const [, number = ""] of page.matchAll(/\bpart (\d+)\b/g)) assert.include(numbers, Number(number))
  })
})

describe("the limits of the contract", () => {
  const counted = leaves(limits)
  const paged = Object.entries(pages).map(([name, rows]) => [`pages.${name}`, rows.map(said).join(", ")] as const)

  it("are those of src/domain/limits.ts, with their values, and no others", () => {
    const told = limitRows.map(({ name, value }) => [name, value])
    assert.deepStrictEqual(
      told.toSorted(),
      [...counted.map(([name, value]) => [name, said(value)]), ...paged.map(([...row]) => row)].toSorted()
    )
  })

  it("have the unit that their name ends with", () => {
    const units = { Bytes: "bytes", Chars: "characters", Ms: "ms", Seconds: "s", Hours: "hours", Days: "days" }
    for (const { name, unit } of limitRows) {
      const [, expected = name.startsWith("pages.") ? "rows" : "number"] =
        Object.entries(units).find(([ending]) => name.split(".").some((word) => word.endsWith(ending))) ?? []
      assert.strictEqual(unit, expected, name)
    }
  })

  it("are enforced in the file that the table names", () => {
    for (const { file, name } of limitRows) {
      const [first = "", second = ""] = name.split(".")
      assert.include(textOf(file), first === "pages" ? `limitOf("${second}")` : `limits.${first}`, name)
    }
  })

  it("have the same value wherever a rule cites one", () => {
    const valueOf = new Map(limitRows.map(({ number, value }) => [number, value]))
    const cited = [...page.replaceAll(/\n +/g, " ").matchAll(/((?:[\d,]+, )?[\d,]*\d) \((C25\.\d+)\)/g)]
    assert.isAbove(cited.length, 30)
    for (const [, value = "", number = ""] of cited) assert.strictEqual(value, valueOf.get(number), number)
  })
})

describe("the words of the contract", () => {
  it("name every error with its status, and no other", () => {
    const [, table = ""] = part(3).split("| Number | Status | `error` |")
    const [words = ""] = table.split("\n\n")
    const told = words
      .split("\n")
      .filter((line) => line.startsWith("| C"))
      .flatMap((line) => {
        const [, , status = "", words = ""] = line.split("|")
        return quoted(words)
          .filter((word) => /^[a-z_]+$/.test(word))
          .map((word) => [word, Number(status)] as const)
      })
    assert.deepStrictEqual(told.toSorted(), Object.entries(statuses).toSorted())
  })

  it("name every finer cause that a rule names, beside its status", () => {
    const [, table = ""] = part(3).split("| Number | Status | `code` |")
    const listed = new Map(
      table.split("\n").flatMap((line) => {
        const [, , status = "", words = ""] = line.split("|").map((cell) => cell.trim())
        return /^\d+$/.test(status) ? [[status, quoted(words)] as const] : []
      })
    )
    const rules = built.replaceAll(/\n +/g, " ")
    const cited = [...rules.matchAll(/(\d{3})(?: `\w+`)?, code ((?:(?: or )?`\w+`)+)/g)].flatMap(
      ([, status = "", words = ""]) => quoted(words).map((code) => [status, code] as const)
    )
    assert.isAbove(cited.length, 20)
    assert.deepStrictEqual(
      cited.filter(([status, code]) => listed.get(status)?.includes(code) !== true),
      []
    )
  })

  it("name every failure code", () => {
    const told = new Set(quoted(part(16)))
    for (const code of failureCodes) assert.include(told, code)
  })

  it("name every family of tools", () => {
    const [, told = ""] = /\*\*C11\.6\*\*(.*?)\n- /s.exec(part(11)) ?? []
    assert.sameMembers(quoted(told).slice(1), [...servedFamilies])
  })

  it("name the prefix of every id that is given out", () => {
    // What is not built has none yet.
    const unused = new Set<string>([prefixes.schedule, prefixes.scheduleRun, prefixes.subscription])
    for (const prefix of Object.values(prefixes)) if (!unused.has(prefix)) assert.include(part(1), prefix)
  })
})
