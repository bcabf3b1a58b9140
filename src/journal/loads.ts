/**
 * Reads what claimed actors are loaded from: their pending inputs, and the facts of an unfinished turn.
 *
 * O1. Loads share statements, in pages of so many rows and bytes: a page ends within an actor where it must,
 *     and the next one goes on there. Each actor is answered when its own rows are there.
 * O2. Trouble of one actor delays no other: a turn that is larger than a page goes on with the connections for whole
 *     logs; when a page fails, its actors are read apart (A1 of apart.ts).
 * O3. An actor at rest is loaded without a look at the facts, and never behind an actor that is not at rest.
 */
import { Data, Effect } from "effect"
import { fromUuid } from "../domain/ids.ts"
import { apart } from "../database/apart.ts"
import { batched, type Batched } from "../database/batches.ts"
import { type Database, type DatabaseUnavailable, isUnavailable, type Statement } from "../database/Database.ts"
import { ints, places, uuids } from "../database/parameters.ts"
import {
  type ActorRef,
  type Claimed,
  type InputRow,
  JournalUnavailable,
  type Loaded,
  type StoredFact
} from "./Journal.ts"
import { type FactColumns, storedFact } from "./storedFact.ts"

/** An unfinished turn with more texts than a node can hold beside its others. */
class TooLarge extends Data.TaggedError("TooLarge")<{ readonly actor: ActorRef; readonly bytes: number }> {}

interface Bounds {
  /** Facts of a page. */
  readonly facts: number
  /** A page ends with the row that reaches this. */
  readonly bytes: number
}

interface AllBounds {
  readonly shared: Bounds
  /** Of an actor that is read alone. */
  readonly alone: Bounds
  /** Facts from which on an actor is read alone at once. */
  readonly many: number
  /** Bytes from which on an actor is not loaded at all. */
  readonly most: number
}

const MiB = 1024 * 1024
const usual: AllBounds = {
  shared: { facts: 4_000, bytes: 4 * MiB },
  alone: { facts: 10_000, bytes: 32 * MiB },
  many: 1_000,
  most: 512 * MiB
}

const ofInputs = `select c.o, 'input' as what, i.ord as pos, null::int as seq, 0 as n, i.id, null::uuid as once,
  i.body, null as detail, 0::float8 as at, octet_length(i.body) as size
  from c join inputs i on i.workspace = c.w and i.actor = c.id where i.state = 'pending' and (c.input is null or
    (i.ord, i.id) > (c.ord, c.input))`
const ofFacts = `select c.o, 'fact', f.pos, f.seq, f.n, f.turn, f.once, f.event, f.detail, (extract(epoch from f.at) *
  1000)::float8,
    octet_length(f.event) + coalesce(octet_length(f.detail), 0)
  from c join facts f on f.actor = c.id and f.pos between c.first and c.last`

// Inputs first. The sums read no text that is stored apart from its row.
const textOf = (
  parts: string
) => `with c as (select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::int[], $7::int[])
  as c(o, w, id, ord, input, first, last)),
parts as (${parts}),
summed as (select parts.*, sum(size) over (order by o, what desc, pos, id rows unbounded preceding)::float8 as bytes,
  sum(size) over ()::float8 as total from parts)
select * from summed where bytes - size < $8 order by o, what desc, pos, id`
const texts = { resting: textOf(ofInputs), unfinished: textOf(`${ofInputs}\nunion all ${ofFacts}`) } as const

type Part = {
  readonly o: number
  readonly size: number
  /** Of this page up to this row, and of all that the page was asked for. */
  readonly bytes: number
  readonly total: number
} & (
  | { readonly what: "input"; readonly pos: number; readonly id: string; readonly body: string }
  | ({ readonly what: "fact"; readonly id: string | null; readonly body: string } & Omit<FactColumns, "turn" | "event">)
)

/** How far an actor has been read. */
interface Reading {
  readonly claimed: Claimed
  readonly inputs: Array<InputRow>
  readonly facts: Array<Extract<Part, { readonly what: "fact" }>>
  /** The next fact that is wanted; beyond the last one when none is. */
  next: number
  bytes: number
}

/** A reading, and the last fact that this page asks for. */
interface PageRequest {
  readonly reading: Reading
  readonly last: number
}

const begin = (claimed: Claimed): Reading => ({
  claimed,
  inputs: [],
  facts: [],
  next: claimed.head.since ?? claimed.head.pos + 1,
  bytes: 0
})

const wanted = ({ claimed, next }: Reading) => claimed.head.pos + 1 - next

/** Makes the texts what they are in memory; only its own actor fails for a row that nobody can read. */
const loadedOf = ({ claimed, facts, inputs }: Reading) =>
  Effect.sync(
    (): Loaded => ({
      ...claimed,
      inputs,
      facts: facts.map((row): StoredFact => storedFact({ ...row, turn: row.id, event: row.body }))
    })
  )

const pageOf = (readings: ReadonlyArray<Reading>, most: number): ReadonlyArray<PageRequest> => {
  const requests: Array<PageRequest> = []
  let left = most
  for (const reading of readings) {
    if (left === 0 && wanted(reading) > 0) break
    const count = Math.min(left, wanted(reading))
    requests.push({ reading, last: reading.next + count - 1 })
    left -= count
  }
  return requests
}

const statementOf = (requests: ReadonlyArray<PageRequest>, bytes: number): Statement => {
  const name = requests.some(({ last, reading }) => last >= reading.next) ? "unfinished" : "resting"
  return {
    name: `load ${name}`,
    text: texts[name],
    values: [
      places(requests),
      uuids(requests, ({ reading }) => reading.claimed.actor.workspace),
      uuids(requests, ({ reading }) => reading.claimed.actor.id),
      ints(requests, ({ reading }) => reading.inputs.at(-1)?.ord ?? null),
      uuids(requests, ({ reading }) => reading.inputs.at(-1)?.id ?? null),
      ints(requests, ({ reading }) => reading.next),
      ints(requests, ({ last }) => last),
      bytes
    ]
  }
}

/** Adds a page to what has been read; how many of those that it was asked for are complete: the first ones. */
const take = (requests: ReadonlyArray<PageRequest>, parts: ReadonlyArray<Part>) => {
  for (const part of parts) {
    const { reading } = requests[part.o]!
    reading.bytes += part.size
    if (part.what === "input") {
      reading.inputs.push({ id: fromUuid("input", part.id), ord: part.pos, state: "pending", body: part.body })
    } else {
      reading.facts.push(part)
      reading.next = part.pos + 1
    }
  }
  const end = parts.at(-1)
  const whole = end !== undefined && end.bytes < end.total ? end.o : requests.length
  for (const { last, reading } of requests.slice(0, whole)) reading.next = last + 1
  // Only of the last one the page may have asked for less than everything.
  const rest = requests.findIndex(({ reading }, o) => o >= whole || wanted(reading) > 0)
  return rest === -1 ? requests.length : rest
}

export const loads = (
  database: Pick<Database["Service"], "query" | "longRead">,
  { alone, many, most, shared } = usual
) => {
  type LoadRequest = Batched<Claimed, Loaded, JournalUnavailable>
  interface Open {
    readonly request: LoadRequest
    readonly reading: Reading
  }

  /** The rest of one actor. */
  const readAlone = (reading: Reading): Effect.Effect<Loaded, JournalUnavailable> =>
    database
      .longRead(
        "load",
        Effect.fnUntraced(function* (read): Effect.fn.Return<Loaded, DatabaseUnavailable> {
          for (;;) {
            const requests = pageOf([reading], alone.facts)
            if (take(requests, yield* read<Part>(statementOf(requests, alone.bytes))) === 1)
              return yield* loadedOf(reading)
            if (reading.bytes > most)
              return yield* Effect.die(new TooLarge({ actor: reading.claimed.actor, bytes: reading.bytes }))
          }
        })
      )
      .pipe(Effect.mapError(({ cause }) => new JournalUnavailable({ cause })))

  /** Those that want another page. */
  const readPage = async (open: ReadonlyArray<Open>) => {
    const requests = pageOf(
      open.map(({ reading }) => reading),
      shared.facts
    )
    const complete = take(requests, await database.query<Part>(statementOf(requests, shared.bytes)))
    for (const { reading, request } of open.slice(0, complete)) request.answer(loadedOf(reading))
    // A page was not enough for the first one.
    if (complete === 0) for (const { reading, request } of open.slice(0, 1)) request.answer(readAlone(reading))
    return open.slice(Math.max(1, complete))
  }

  const fail = (failed: ReadonlyArray<Open>, cause: unknown) => {
    for (const { request } of failed)
      request.answer(isUnavailable(cause) ? Effect.fail(new JournalUnavailable({ cause })) : Effect.die(cause))
  }

  const lanes = (count: number) =>
    batched<Claimed, Loaded, JournalUnavailable>({
      max: 128,
      lanes: count,
      run: (requests) =>
        apart(
          requests.map((request) => ({ request, reading: begin(request.item) })),
          readPage,
          fail
        )
    })
  // O3. Of the connections for reads one stays free for claims and what is due, whatever the facts' table does.
  const [resting, unfinished] = [lanes(2), lanes(1)]

  return (claimed: Claimed): Effect.Effect<Loaded, JournalUnavailable> => {
    if (claimed.head.since === null) return resting(claimed)
    return wanted(begin(claimed)) > many ? Effect.suspend(() => readAlone(begin(claimed))) : unfinished(claimed)
  }
}
