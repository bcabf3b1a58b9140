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
    { share: 0.55, does: "optimizes soon what a busy thread calls" },
    {
      share: 0.45,
      does: "leaves V8's defaults to a thread that has little to do: its compiler would take more than it gives"
    }
  ])("$does", async ({ share }) => {
    const engine = new URL("../../src/cli/engine.ts", import.meta.url).href
    // Two thousand calls: V8 by itself waits for three.
    const program = `
      // The share of a core that it is told it has had.
      process.threadCpuUsage = (before) => ({ user: performance.now() * 1_000 * ${share} - (before?.user ?? 0), system: 0 })
      await import(${JSON.stringify(engine)})
      const work = (n) => (n % 7) * (n % 11) + (n % 13)
      await new Promise((wake) => setTimeout(wake, 1_500))
      for (let i = 0; i < 2_000; i++) { work(i); if (i % 10 === 0) await new Promise((wake) => setTimeout(wake, 1)) }
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--trace-opt",
      "--no-use-osr",
      "--input-type=module",
      "--eval",
      program
    ])
    assert.strictEqual(/completed optimizing.*<JSFunction work\b.*TURBOFAN/.test(stdout), share > 0.5)
  })
})
