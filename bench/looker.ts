/** A node that only looks for what is due, and tends the agenda: what that costs beside whatever lies there. */
import { Context, Effect, Layer, Redacted } from "effect"
import { place } from "../actors/Placement.ts"
import { Journal } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { layerPostgres } from "../src/journal/postgres.ts"
import { layerPostgresLease } from "../src/journal/PostgresLease.ts"
import { shardsOf } from "../src/journal/shard.ts"
import { Database } from "../src/database/Database.ts"
import { summarize } from "./statistics.ts"

/** Among `nodes`, which are rows; its looks are timed. */
export const looker = Effect.fnUntraced(function* (url: string, nodes: ReadonlyArray<string>) {
  const context = yield* Layer.build(
    layerPostgres().pipe(
      Layer.provideMerge(layerPostgresLease({ name: "looker" })),
      Layer.provideMerge(Database.layer({ url: Redacted.make(url) }))
    )
  )
  const [journal, lease] = [Context.get(context, Journal), Context.get(context, Lease)]
  const [ring, me] = [[...nodes, lease.incarnation()].toSorted(), lease.incarnation()]
  const placed = place(ring)
  const neighbour = ring[(ring.indexOf(me) + 1) % ring.length]
  const shards = {
    own: shardsOf((shard) => placed[shard] === me),
    wide: shardsOf((shard) => placed[shard] === me || placed[shard] === neighbour)
  }
  const times: Record<"look" | "upkeep", Array<number>> = { look: [], upkeep: [] }
  let looks = 0
  const timed = <A, E>(kind: keyof typeof times, effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const start = performance.now()
      return Effect.tap(effect, () => Effect.sync(() => times[kind].push(performance.now() - start)))
    })
  const once = Effect.suspend(() => {
    const where = looks++ % 2 === 0 ? shards.wide : shards.own
    return timed(
      "look",
      Effect.andThen(
        journal.due(200, where),
        journal.inbox({ actors: 100, rows: 64, shards: where, after: undefined, except: [] })
      )
    ).pipe(Effect.andThen(timed("upkeep", journal.tend(true))))
  })
  return { once, times }
})

/** So many looks of two nodes, in turns, so that what else the machine does harms both alike. */
export const compareLooks = (urls: readonly [few: string, many: string], nodes: ReadonlyArray<string>, looks: number) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const [few, many] = [yield* looker(urls[0], nodes), yield* looker(urls[1], nodes)]
        for (let i = 0; i < 20; i++) for (const { once } of [few, many]) yield* once
        for (const { times } of [few, many]) for (const kind of ["look", "upkeep"] as const) times[kind].length = 0
        for (let i = 0; i < looks; i++) for (const { once } of [few, many]) yield* once
        const of = ({ times }: typeof few) => ({ look: summarize(times.look), upkeep: summarize(times.upkeep) })
        return [of(few), of(many)] as const
      })
    )
  )
