/** What the program tells V8 (docs/decisions/026-engine.md). */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const told = [
  ...readFileSync(new URL("../../src/cli/engine.ts", import.meta.url), "utf8").matchAll(
    /setFlagsFromString\("--(?:no-)?([a-z-]+)/g
  )
].map(([, name = ""]) => name)

describe("the engine", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" })

  it("is told something", () => {
    assert.isAtLeast(told.length, 5)
  })

  it.each(told)("knows %s: one that it does not know it would pass over in silence", (name) => {
    assert.match(options, new RegExp(`^ +--${name} `, "m"))
  })
})
