/**
 * What models were used for, gathered in memory and written by day, agent and model: a call of a model must not cost a
 * statement of its own.
 *
 * U1. Once a second, in the background, what this node has counted is added to its rows by one statement. A node that
 *     dies takes at most a second's counts with it.
 * U2. Counts that could not be written are kept, and sent again a second later: where the outcome of a statement is
 *     unknown, a second's counts may count twice. Usage of threads and budgets are exact, and do not come from here.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { isUnpriced, type ModelUsage } from "../domain/usage.ts"
import { Database } from "../database/Database.ts"
import { Lease } from "../journal/Lease.ts"
import { addUsageCounts, type UsageCount } from "./rows.ts"

/** One call of a model whose outcome is in the journal. */
export interface ModelUse {
  readonly workspace: string
  /** Whose budget pays for it. */
  readonly agentId: string
  readonly model: string
  /** Milliseconds: the day that it counts for. */
  readonly at: number
  readonly usage: ModelUsage
}

const dayMs = 86_400_000

const countOf = ({ agentId, at, model, usage, workspace }: ModelUse): UsageCount => ({
  workspace,
  agentId,
  model,
  day: Math.floor(at / dayMs),
  calls: 1,
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  cacheReadTokens: usage.cacheReadTokens ?? 0,
  cacheWriteTokens: usage.cacheWriteTokens ?? 0,
  reasoningTokens: usage.reasoningTokens ?? 0,
  cost: usage.estimatedCost ?? 0,
  unpriced: isUnpriced(usage) ? 1 : 0
})

const plus = (a: UsageCount, b: UsageCount): UsageCount => ({
  ...a,
  calls: a.calls + b.calls,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  cost: a.cost + b.cost,
  unpriced: a.unpriced + b.unpriced
})

export class UsageCounts extends Context.Service<
  UsageCounts,
  {
    /** Synchronous, and never fails. */
    readonly add: (use: ModelUse) => void
  }
>()("troupe/usage/UsageCounts") {
  static readonly layer = Layer.effect(
    UsageCounts,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const alone = Semaphore.makeUnsafe(1)
  let gathered = new Map<string, UsageCount>()

  const gather = (count: UsageCount) => {
    const key = `${count.day} ${count.workspace} ${count.agentId} ${count.model}`
    const known = gathered.get(key)
    gathered.set(key, known === undefined ? count : plus(known, count))
  }

  const write = Effect.suspend(() => {
    if (gathered.size === 0) return Effect.void
    const counts = [...gathered.values()]
    gathered = new Map()
    return Effect.tapError(addUsageCounts(database, lease.incarnation(), counts), () =>
      Effect.sync(() => counts.forEach(gather))
    )
  }).pipe(alone.withPermit)

  let isFailing = false
  const round = Effect.matchEffect(write, {
    onSuccess: () =>
      Effect.sync(() => {
        isFailing = false
      }),
    // Said once: every second brings another try.
    onFailure: (cause) =>
      Effect.suspend(() => {
        const isNews = !isFailing
        isFailing = true
        return isNews ? Effect.logWarning("usage of models is counted in memory alone for now", cause) : Effect.void
      })
  })

  yield* Effect.addFinalizer(() => Effect.ignore(write))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(round, "1 second")))

  return UsageCounts.of({ add: (use) => gather(countOf(use)) })
})
