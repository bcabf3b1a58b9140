/**
 * The lease that counts: a row in `nodes`, renewed on a connection of its own (L1 to L3).
 *
 * The deadline is the sender's: its view of the database's clock, which is never ahead of it, plus the
 * TTL. A beat that was delayed on its way therefore cannot promise more than was meant when it was sent.
 */
import { Data, Effect, Layer, PubSub, Stream } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { freshId } from "../seed.ts"
import { Database, isUnavailable } from "../store/Database.ts"
import { Lease, type LiveNode } from "./Lease.ts"

export interface LeaseOptions {
  /** The node's name: the same over restarts, different for each node. */
  readonly name: string
  /** Milliseconds; 5,000 unless given. */
  readonly ttl?: number
}

/** The node could not enter the list of nodes. */
export class LeaseRefused extends Data.TaggedError("LeaseRefused")<{ readonly cause: unknown }> {}

const live = `(select coalesce(json_agg(json_build_object('incarnation', l.incarnation, 'name', l.name) order by l.name, l.started_at), '[]')
  from nodes l where l.deadline > clock_timestamp() and l.incarnation <> $1)`

/** A row of nodes is of no use once nothing can be owned under it any more; keep it a day for people. */
const joining = `with swept as (delete from nodes where deadline < now() - interval '1 day'),
joined as (insert into nodes (incarnation, name, deadline) values ($1, $2, to_timestamp($3::float8 / 1000)) on conflict do nothing)
select true as alive, (extract(epoch from clock_timestamp()) * 1000)::float8 as now, (select revision from auth_revision)::float8 as revision, ${live} as others`

const beating = `with renewed as (update nodes set deadline = greatest(deadline, to_timestamp($2::float8 / 1000))
  where incarnation = $1 and deadline > clock_timestamp() returning incarnation)
select exists (select from renewed) as alive, (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
  (select revision from auth_revision)::float8 as revision, ${live} as others`

interface Pulse {
  alive: boolean
  now: number
  revision: number
  others: ReadonlyArray<{ readonly incarnation: string; readonly name: string }>
}

export const layerPostgresLease = (options: LeaseOptions) =>
  Layer.effect(Lease, Effect.gen(function*() {
    const database = yield* Database
    const ttl = options.ttl ?? 5_000
    const every = Math.min(1_000, ttl / 5)
    const authChanges = yield* PubSub.unbounded<number>()
    const rejoined = yield* PubSub.unbounded<string>()

    let incarnation = freshId("node")
    let nodes: ReadonlyArray<LiveNode> = []
    let revision = 0
    let left = false
    /** Database time minus monotonic time, at its best known. */
    let offset = 0
    let latest = 0
    /** Monotonic time at which the last beat that was answered had been sent. */
    let beatSent = -Infinity

    const now = () => latest = Math.max(latest, Math.floor(performance.now() + offset))

    const absorb = (pulse: Pulse, sent: number) => {
      // The database's time as of its answer's arrival: late by the way back, never ahead.
      offset = pulse.now - performance.now()
      beatSent = sent
      nodes = [{ incarnation, name: options.name }, ...pulse.others.map((other) => ({ ...other, incarnation: fromUuid("node", other.incarnation) }))]
        .sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
      if (pulse.revision === revision) return
      const first = revision === 0
      revision = pulse.revision
      if (!first) PubSub.publishUnsafe(authChanges, revision)
    }

    const join = async () => {
      const [clock] = await database.beat<{ now: number }>({
        name: "lease clock",
        text: "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
        values: []
      })
      offset = clock!.now - performance.now()
      const sent = performance.now()
      const [pulse] = await database.beat<Pulse>({
        name: "lease join",
        text: joining,
        values: [toUuid(incarnation), options.name, sent + offset + ttl]
      })
      absorb(pulse!, sent)
    }

    /** Never fails: a beat that did not arrive is noticed by the fence, and by the next beat. */
    const beat = async () => {
      const sent = performance.now()
      try {
        const [pulse] = await database.beat<Pulse>({ name: "lease beat", text: beating, values: [toUuid(incarnation), sent + offset + ttl] })
        if (left) return
        if (pulse!.alive) return absorb(pulse!, sent)
        // L1: what lapsed stays lapsed.
        incarnation = freshId("node")
        beatSent = -Infinity
        await join()
        PubSub.publishUnsafe(rejoined, incarnation)
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
      }
    }

    yield* Effect.tryPromise({ try: join, catch: (cause) => new LeaseRefused({ cause }) })
    yield* Effect.promise(beat).pipe(Effect.delay(every), Effect.forever, Effect.forkScoped)

    return Lease.of({
      incarnation: () => incarnation,
      now,
      fenced: () => left || performance.now() - beatSent > 0.8 * ttl,
      nodes: () => nodes,
      authRevision: () => revision,
      authChanges: Stream.fromPubSub(authChanges),
      rejoined: Stream.fromPubSub(rejoined),
      leave: Effect.suspend(() => {
        left = true
        return Effect.tryPromise(() => database.beat({ name: "lease leave", text: "delete from nodes where incarnation = $1", values: [toUuid(incarnation)] })).pipe(
          Effect.ignore
        )
      })
    })
  }))
