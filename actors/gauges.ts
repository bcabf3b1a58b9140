/**
 * Reports of a node on itself, from time to time: actors, jobs, how late the sweep is, statements, connections,
 * notices.
 */
import { Effect, Layer, Schedule } from "effect"
import { Database } from "../src/database/Database.ts"
import {
  actorsLive,
  databaseStatements,
  databaseWaiting,
  jobsRunning,
  noticesPending,
  record,
  slotsUsed,
  slotsWaiting,
  sweepAge
} from "../src/telemetry/metrics.ts"
import { safely } from "./rounds.ts"
import { Sweep } from "./Sweep.ts"

/** Of all nodes. What has piled up is not counted to its end. */
const pending = {
  name: "notices pending",
  text: "select count(*)::int as n from (select from inbox where kind = 'subscription' limit 10000) as found",
  values: []
}

export const watchNode = Layer.effectDiscard(
  Effect.gen(function* () {
    const database = yield* Database
    const sweep = yield* Sweep
    const look = Effect.sync(() => {
      record(actorsLive, sweep.live())
      record(jobsRunning, sweep.jobs())
      for (const [kind, { used, waiting }] of Object.entries(sweep.slots())) {
        record(slotsUsed.with({ kind }), used)
        record(slotsWaiting.with({ kind }), waiting)
      }
      record(sweepAge, sweep.lagMs() / 1000)
      for (const connection of ["writer", "beat", "api"] as const)
        record(databaseStatements.with({ connection }), database.counts[connection])
      record(databaseWaiting, database.pool().waiting)
    })
    yield* Effect.repeat(look, Schedule.spaced("2 seconds")).pipe(Effect.forkScoped)
    const count = Effect.map(database.read<{ readonly n: number }>(pending), ([row]) =>
      record(noticesPending, row?.n ?? 0)
    )
    yield* Effect.repeat(safely(count, "the count of notices"), Schedule.spaced("5 seconds")).pipe(Effect.forkScoped)
  })
)
