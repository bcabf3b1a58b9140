/** What a node says of itself from time to time: actors, jobs, how late the sweep is, statements, connections. */
import { Effect, Layer, Schedule } from "effect"
import { Database } from "../src/database/Database.ts"
import {
  actorsLive,
  databaseStatements,
  databaseWaiting,
  jobsRunning,
  record,
  slotsUsed,
  slotsWaiting,
  sweepAge
} from "../src/telemetry/metrics.ts"
import { Sweep } from "./Sweep.ts"

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
  })
)
