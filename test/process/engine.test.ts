/** What the program tells V8 (docs/decisions/026-engine.md). */
import { assert, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"

const told = [
  ...readFileSync(new URL("../../src/cli/engine.ts", import.meta.url), "utf8").matchAll(
    /setFlagsFromString\(["`]--(?:no-)?([a-z-]+)/g
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

  it.each([
    { busy: true, does: "optimizes soon what a busy thread calls" },
    {
      busy: false,
      does: "leaves V8's defaults to a thread that has little to do: its compiler would take more than it gives"
    }
  ])("$does", async ({ busy }) => {
    const engine = new URL("../../src/cli/engine.ts", import.meta.url).href
    // Two thousand calls: V8 by itself waits for three.
    const program = `
      await import(${JSON.stringify(engine)})
      const work = (n) => (n % 7) * (n % 11) + (n % 13)
      const burn = (until) => { while (performance.now() < until) JSON.stringify([until]) }
      const end = performance.now() + 3_500
      while (performance.now() < end) {
        if (${busy}) burn(performance.now() + 40)
        await new Promise((wake) => setTimeout(wake, 10))
      }
      for (let i = 0; i < 2_000; i++) { work(i); if (i % 10 === 0) await new Promise((wake) => setTimeout(wake, 1)) }
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--trace-opt",
      "--no-use-osr",
      "--input-type=module",
      "--eval",
      program
    ])
    assert.strictEqual(/completed optimizing.*<JSFunction work\b.*TURBOFAN/.test(stdout), busy)
  })
})
