/** What the program tells V8 (docs/decisions/026-engine.md). */
import { assert, describe, it } from "@effect/vitest"
import { execFile, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"

const engineUrl = new URL("../../src/cli/engine.ts", import.meta.url)
const engine = readFileSync(engineUrl, "utf8")
const told = [...engine.matchAll(/setFlagsFromString\(["`]--(?:no-)?([a-z-]+)/g)].map(([, name = ""]) => name)

describe("the engine", () => {
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" })

  it("is told something", () => {
    assert.isAtLeast(told.length, 5)
  })

  it.each(told)("knows %s: one that it does not know it would pass over in silence", (name) => {
    assert.match(options, new RegExp(`^ +--${name} `, "m"))
  })

  it.each([
    ["invocation-count-for-turbofan", 3_000],
    ["minimum-invocations-after-ic-update", 500]
  ])("goes back to the default of %s, %d, when its thread has little to do", (name, value) => {
    assert.match(options, new RegExp(`^ +--${name} .*\\n.*default: --${name}=${value}$`, "m"))
    assert.include(engine, name)
    assert.include(engine, "optimizeAfter(3_000, 500)")
  })

  it.each([
    { shares: [0.6], does: "optimizes soon what a busy thread calls" },
    { shares: [0.4], does: "leaves V8's defaults to a thread that has little to do" },
    { shares: [0.6, 0.4], does: "goes back to V8's defaults when a busy thread has little to do" }
  ])("$does", async ({ shares }) => {
    // Two thousand calls: V8 by itself waits for three.
    const program = `
      let [at, cpuMs, share] = [performance.now(), 0, 0]
      // What share of a core the thread is told it has had.
      process.threadCpuUsage = () => {
        const now = performance.now()
        cpuMs += share * (now - at)
        at = now
        return { user: cpuMs * 1_000, system: 0 }
      }
      await import(${JSON.stringify(engineUrl.href)})
      for (share of ${JSON.stringify(shares)}) await new Promise((wake) => setTimeout(wake, 2_200))
      const work = (n) => (n % 7) * (n % 11) + (n % 13)
      for (let i = 0; i < 2_000; i++) { work(i); if (i % 10 === 0) await new Promise((wake) => setTimeout(wake, 1)) }
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--trace-opt",
      "--no-use-osr",
      "--input-type=module",
      "--eval",
      program
    ])
    const last = shares.at(-1) ?? 0
    assert.strictEqual(/completed optimizing.*<JSFunction work\b.*TURBOFAN/.test(stdout), last > 0.5)
  })

  it("lets the old generation grow to 140 MiB, by 70 to 120 %, and reckons anew after each collection", async () => {
    // MiB in the old generation at the start and at each look. It holds less only after a collection.
    const program = `
      import v8 from "node:v8"
      import { syncBuiltinESMExports } from "node:module"
      const sizes = [50, 50, 90, 80, 130, 100]
      const told = []
      v8.getHeapSpaceStatistics = () => [
        { space_name: "new_space", space_used_size: 2 ** 30 },
        { space_name: "old_space", space_used_size: (sizes.shift() ?? 200) * 2 ** 20 }
      ]
      v8.setFlagsFromString = (flag) => told.push(flag)
      syncBuiltinESMExports()
      await import(${JSON.stringify(engineUrl.href)})
      while (sizes.length > 0) await new Promise((wake) => setTimeout(wake, 50))
      console.log(told.filter((flag) => flag.startsWith("--heap-growing-percent=")).join(" "))
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
    assert.strictEqual(stdout.trim(), [120, 75, 70].map((percent) => `--heap-growing-percent=${percent}`).join(" "))
  })

  it("runs on a Node that cannot tell what a thread has used", async () => {
    const program = `delete process.threadCpuUsage
      await import(${JSON.stringify(engineUrl.href)})
      await new Promise((wake) => setTimeout(wake, 1_200))`
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
  })
})
