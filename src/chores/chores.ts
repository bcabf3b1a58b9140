/**
 * Every node does chores now and then, beside its work: each has a name, and is a bounded piece of work that all nodes
 * may do at once. They do not do it at the same time: each waits for a time of its own.
 */
import { Duration, Effect, Layer, Random } from "effect"
import { Budgets } from "../agents/Budgets.ts"
import { rollUpSpend, settleOverdue, totalSpend } from "../agents/budgetChores.ts"
import type { Database, DatabaseUnavailable } from "../database/Database.ts"
import type { Lease } from "../journal/Lease.ts"
import { forgetImages } from "../images/leaving.ts"
import { forgetMemory } from "../memory/forgetting.ts"
import { foldTallies } from "../quotas/tallies.ts"
import { choreDuration, choresDone, record } from "../telemetry/metrics.ts"
import { retainMessages } from "../feeds/retaining.ts"
import { forgetUnborn } from "../subscriptions/forgetting.ts"
import { clearDeleted } from "../threads/deleting.ts"
import { foldUsage } from "../usage/rows.ts"
import { countPending, forgetDeliveries } from "../webhooks/forgetting.ts"
import { forgetOldKeys } from "./tidy.ts"

export interface Chore<R> {
  readonly name: string
  /** Between two rounds, on average. */
  readonly every: Duration.Input
  /** One round: how much it has found to do. */
  readonly work: Effect.Effect<number, DatabaseUnavailable, R>
}

export const chores: ReadonlyArray<Chore<Budgets | Database | Lease>> = [
  { name: "forget idempotency keys", every: "1 hour", work: forgetOldKeys() },
  { name: "fold tallies", every: "1 hour", work: foldTallies() },
  { name: "keep reservations", every: "1 minute", work: Effect.flatMap(Budgets, ({ keep }) => keep) },
  { name: "settle overdue reservations", every: "1 minute", work: settleOverdue() },
  { name: "roll up spend", every: "1 hour", work: rollUpSpend() },
  { name: "total spend", every: "10 minutes", work: totalSpend() },
  { name: "fold usage", every: "1 hour", work: foldUsage() },
  { name: "clear deleted threads", every: "10 seconds", work: clearDeleted() },
  { name: "forget images", every: "1 minute", work: forgetImages() },
  { name: "forget memory", every: "1 hour", work: forgetMemory() },
  { name: "retain feed messages", every: "1 minute", work: retainMessages() },
  { name: "forget places of subscriptions", every: "1 hour", work: forgetUnborn() },
  { name: "forget webhook deliveries", every: "1 hour", work: forgetDeliveries() },
  { name: "count webhook deliveries", every: "10 seconds", work: countPending() }
]

/** A round of a chore: counted and timed. */
export const round = <R>({ name, work }: Chore<R>) =>
  Effect.gen(function* () {
    const [duration, done] = yield* Effect.timed(work)
    record(choresDone.with({ chore: name }), done)
    record(choreDuration.with({ chore: name }), Duration.toSeconds(duration))
  }).pipe(Effect.catch((error) => Effect.logWarning(`the chore "${name}" is put off`, error)))

const repeated = <R>(chore: Chore<R>) =>
  Effect.flatMap(Random.nextBetween(0.75, 1.25), (factor) =>
    Effect.delay(round(chore), Duration.toMillis(Duration.fromInputUnsafe(chore.every)) * factor)
  ).pipe(Effect.forever, Effect.forkScoped)

export const layerChores = <R>(list: ReadonlyArray<Chore<R>>) =>
  Layer.effectDiscard(Effect.forEach(list, repeated<R>, { discard: true }))
