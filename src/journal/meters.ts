/** What the journal counts: appends and claims by batch, and what went wrong. */
import { Effect, Metric } from "effect"

const batchSizes = Metric.boundariesFromIterable([1, 2, 4, 8, 16, 32, 64, 128])

const appendsPerStatement = Metric.histogram("journal_batch_appends", { description: "appends a statement", boundaries: batchSizes })
const claimsPerStatement = Metric.histogram("journal_batch_claims", { description: "claims a statement", boundaries: batchSizes })
const refused = Metric.counter("journal_appends_refused_total", { description: "appends that found another owner", incremental: true })
const repeated = Metric.counter("journal_batches_repeated_total", { description: "batches sent again", incremental: true })
const inconsistent = Metric.counter("journal_appends_inconsistent_total", { description: "appends that the database refused: bugs", incremental: true })

export interface JournalMeters {
  readonly batch: (appends: number) => void
  readonly claims: (claims: number) => void
  readonly refused: (appends: number) => void
  readonly repeated: () => void
  readonly inconsistent: () => void
}

/** Plain functions over the registry of the program that builds the journal. */
export const journalMeters: Effect.Effect<JournalMeters> = Effect.map(Effect.context<never>(), (context) => ({
  batch: (appends) => appendsPerStatement.updateUnsafe(appends, context),
  claims: (claims) => claimsPerStatement.updateUnsafe(claims, context),
  refused: (appends) => refused.updateUnsafe(appends, context),
  repeated: () => repeated.updateUnsafe(1, context),
  inconsistent: () => inconsistent.updateUnsafe(1, context)
}))
