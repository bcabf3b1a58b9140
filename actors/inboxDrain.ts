/**
 * Brings the inbox's rows to their actors, beside everything else that the sweep does.
 *
 * I1. Actors are served side by side, each one its own rows in their order, by one hand at a time.
 * I2. An actor's rows come in portions. While portions are full and get fewer, the next one follows at once.
 * I3. A row that this version cannot read is told of once, and passed over from then on; one that broke its actor for
 *     a while (H9 of Host.ts).
 */
import { Effect, Semaphore } from "effect"
import { type ActorRef, type InboxRow, Journal } from "../src/journal/Journal.ts"
import { shardOf } from "../src/journal/shard.ts"
import type { Registries } from "./Registries.ts"
import type { View } from "./strays.ts"

const actorsAtOnce = 50
/** Actors in a look, and rows of each. */
const portion = { actors: 100, rows: 64 }
/** Rows that are remembered as passed over: more than that come as if they were new. */
const mostPassedOver = 1_000

export const makeInboxDrain = Effect.fnUntraced(function* (
  registries: Pick<Registries["Service"], "of">,
  /** Milliseconds. */
  now: () => number,
  drained: (shard: number) => void
) {
  const journal = yield* Journal
  const scope = yield* Effect.scope
  const hands = yield* Semaphore.make(actorsAtOnce)
  const served = new Set<string>()
  /** Rows by id, and milliseconds until which they are passed over. */
  const passedOver = new Map<string, number>()
  /** The first row of an actor's last portion since the last whole look, where that portion was full. */
  const firsts = new Map<string, string>()

  const passOver = (row: InboxRow, until: number) => {
    for (const id of passedOver.keys()) {
      if (passedOver.size < mostPassedOver) break
      passedOver.delete(id)
    }
    passedOver.set(row.id, until)
    return until < Number.POSITIVE_INFINITY
      ? Effect.void
      : Effect.logError("a row of the inbox cannot be read").pipe(
          Effect.annotateLogs({ actorId: row.actor.id, inputId: row.id })
        )
  }

  /** Whether the next portion is to follow at once (I2). */
  const serve = Effect.fnUntraced(function* (ref: ActorRef, rows: ReadonlyArray<InboxRow>) {
    const registry = registries.of(ref.kind)
    if (registry === undefined) return false
    const sift = Effect.fnUntraced(function* (rows: ReadonlyArray<InboxRow>) {
      const readable: Array<InboxRow> = []
      for (const row of rows) {
        const until = registry.passedOverUntil(row)
        if (until === undefined) readable.push(row)
        else yield* passOver(row, until)
      }
      return readable
    })
    const readable = yield* sift(rows)
    const [first] = rows
    const isFull = first !== undefined && rows.length === portion.rows
    const gotFewer = isFull && firsts.get(ref.id) !== first.id
    if (isFull) firsts.set(ref.id, first.id)
    if (readable.length > 0) {
      yield* registry.accept(ref, readable)
      // Those that broke make room for those behind them.
      yield* sift(readable)
    }
    return gotFewer
  })

  return {
    look: Effect.fnUntraced(function* ({ isToTake, shards }: View, isWhole: boolean) {
      if (isWhole) firsts.clear()
      for (const [id, until] of passedOver) if (until <= now()) passedOver.delete(id)
      let after: string | undefined
      do {
        // Their rows are on their way: what is found of them now may be accepted by the time that it is read.
        const busy = new Set(served)
        const found = yield* journal.inbox({ ...portion, shards, after, except: [...passedOver.keys()] })
        const lines = [...Map.groupBy(found, ({ actor }) => actor.id)]
        after = lines.length === portion.actors ? lines.at(-1)?.[0] : undefined
        for (const [id, rows] of lines) {
          const ref = rows[0]?.actor
          if (ref === undefined || busy.has(id) || !isToTake(ref)) continue
          served.add(id)
          yield* hands.take(1)
          yield* serve(ref, rows).pipe(
            Effect.ensuring(
              Effect.suspend(() => {
                served.delete(id)
                return hands.release(1)
              })
            ),
            // Not before its hand is free: the next look passes over whoever is served.
            Effect.map((isToGoOn) => {
              if (isToGoOn) drained(shardOf(ref.id))
            }),
            Effect.forkIn(scope)
          )
        }
      } while (after !== undefined)
    })
  }
})
