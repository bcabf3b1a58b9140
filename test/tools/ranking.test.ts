import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ranked } from "../../src/tools/ranking.ts"

const things = [
  { name: "github.createIssue", description: "Opens a new issue in a repository" },
  { name: "github.list_issues", description: "Issues of a repository, newest first" },
  { name: "mail.send", description: "Sends a mail" },
  { name: "fs.list" },
  { name: "天気.予報", description: "今日の天気" }
]
const found = (query: string) => ranked(query, things).map(({ name }) => name)

describe("what a query finds", () => {
  it("is what holds one of its words in a name or a description, names first", () => {
    assert.deepStrictEqual(found("mail"), ["mail.send"])
    assert.deepStrictEqual(found("repository"), ["github.createIssue", "github.list_issues"])
    assert.deepStrictEqual(found("list the newest issues"), ["github.list_issues", "github.createIssue", "fs.list"])
    assert.deepStrictEqual(found("create issue"), ["github.createIssue", "github.list_issues"])
    assert.deepStrictEqual(found("天気"), ["天気.予報"])
  })

  it("may be the beginning of a word, or its plural, from three letters on", () => {
    assert.deepStrictEqual(found("repo"), ["github.createIssue", "github.list_issues"])
    assert.deepStrictEqual(found("mails"), ["mail.send"])
    assert.deepStrictEqual(found("is"), [])
    assert.deepStrictEqual(found("fs"), ["fs.list"])
    assert.deepStrictEqual(found("ist"), [])
  })

  it("does not depend on case, order or what stands between words", () => {
    assert.deepStrictEqual(found("GITHUB_createissue"), found("createissue github"))
    assert.deepStrictEqual(found("MAIL--send"), ["mail.send"])
  })

  it("is nothing where there are no words, or none that is there", () => {
    for (const query of ["", " ", "?!", "\u0000", "\ud800", "zebra"]) assert.deepStrictEqual(found(query), [])
  })

  it("is the same each time, and among what was there, whatever is asked", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 80 }),
        fc.array(fc.record({ name: fc.string({ unit: "binary" }), description: fc.string({ unit: "binary" }) })),
        (query, some) => {
          const once = ranked(query, some)
          assert.deepStrictEqual(
            once,
            ranked(
              query,
              some.map((one) => ({ ...one }))
            )
          )
          assert.isTrue(once.every((one) => some.includes(one)))
        }
      )
    )
  })

  it("finds among all the tools that a profile can have", () => {
    const many = Array.from({ length: 64 * 512 }, (_, i) => ({
      name: `set${i % 64}.tool_${i}`,
      description: `Does ${i} things. `.repeat(100)
    }))
    const query = Array.from({ length: 100 }, (_, i) => `word${i}`).join(" ") + " things"
    ranked(query, many)
    assert.lengthOf(ranked("things 1", many), many.length)
  })
})
