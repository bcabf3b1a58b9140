/** What a node has counted of models, while the database refuses it and afterwards. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import { Database } from "../../src/database/Database.ts"
import { MemoryStore } from "../../src/journal/MemoryStore.ts"
import { layerMemoryLease } from "../../src/journal/memory.ts"
import { freshId } from "../../src/seed.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { ownConnection } from "../setup/database.ts"

const own = await ownConnection()

const use = {
  workspace: freshId("workspace"),
  agentId: freshId("agent"),
  model: "a/b",
  at: Date.parse("2026-03-01T23:59:59.999Z"),
  usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3, estimatedCost: 0.25 }
}
const rows = () =>
  Effect.promise(() =>
    own.query<{ readonly day: string; readonly calls: number; readonly cost: number }>(
      "select day::text, calls::int, cost from usage_by_day",
      []
    )
  ).pipe(Effect.map((found) => found.rows))
/** As while a failover lasts; connections that are open do not see it. */
const readOnly = (mode: "on" | "off") =>
  Effect.promise(async () => {
    const name = new URL(own.url).pathname.slice(1)
    await own.query(`alter database "${name}" set default_transaction_read_only = ${mode}`, [])
    await own.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [name]
    )
  })
const logs: Array<string> = []
const logging = Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))])
const until = Effect.fnUntraced(function* (holds: Effect.Effect<boolean>) {
  for (const deadline = Date.now() + 15_000; !(yield* holds); yield* Effect.sleep("20 millis"))
    if (Date.now() > deadline) assert.fail("it never happened")
})
const counting = Layer.suspend(() =>
  UsageCounts.layer.pipe(
    Layer.provide([
      Database.layer({ url: Redacted.make(own.url) }),
      layerMemoryLease(new MemoryStore(), { name: "a", ttl: 60_000 })
    ])
  )
)

describe("counts of models' use", () => {
  it.live("that could not be written are kept, and written once with those that came meanwhile (U2)", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => own.query("delete from usage_by_day", []))
      logs.length = 0
      yield* readOnly("on")
      yield* Effect.gen(function* () {
        const { add } = yield* UsageCounts
        add(use)
        yield* until(Effect.sync(() => logs.some((line) => line.includes("in memory alone"))))
        assert.deepStrictEqual(yield* rows(), [])
        yield* readOnly("off")
        add(use)
        yield* until(Effect.map(rows(), (found) => found.length > 0))
        assert.deepStrictEqual(yield* rows(), [{ day: "2026-03-01", calls: 2, cost: 0.5 }])
        add(use)
      }).pipe(Effect.provide(counting), Effect.provide(logging))
      // Whoever leaves writes what is left.
      assert.deepStrictEqual(yield* rows(), [{ day: "2026-03-01", calls: 3, cost: 0.75 }])
    })
  )
})
