/**
 * The node's one writer: groups appends while the last group is under way, and settles each of them.
 *
 * W1. One append of an actor at a time; at most 128 in a statement (more only adds latency), and at most
 *     8 Mi characters of texts, unless one append alone has more.
 * W2. A batch that fails for a reason of its own is repeated one append at a time, so that the guilty
 *     one is found and the others pass (J3). A statement that takes too long is repeated in halves, and each half is
 *     tried at least once.
 * W3. After a lost connection nothing is repeated, and nobody is refused, before the heads have been read
 *     (J4); for about 5 s, then the callers hear `JournalUnavailable`. So do those whose heads do not tell.
 */
import { Effect } from "effect"
import pg from "pg"
import { fromUuid } from "../domain/ids.ts"
import { type BatchOptions, batched, type Batched } from "../database/batches.ts"
import {
  appendsInconsistent,
  appendsPerStatement,
  appendsRefused,
  batchesRepeated,
  record
} from "../telemetry/metrics.ts"
import { type Database, isUndone, isTimeout, isUnavailable } from "../database/Database.ts"
import type { OwnedAppend } from "./appendSections.ts"
import { appendStatement, byActor, sizeOf } from "./appendStatement.ts"
import { confirmStatement, type Fate, fateOf, type SeenRow } from "./doubts.ts"
import { Inconsistent, JournalUnavailable, Superseded } from "./Journal.ts"

const maxBatch = 128
const maxCharacters = 8 * 1024 * 1024
const patienceMs = 5_000

type AppendRequest = Batched<OwnedAppend, void, Superseded | JournalUnavailable>

/** What has happened to a batch so far; its parts share it. */
interface Trouble {
  /** An attempt before may have been committed, or be under way still. */
  doubtful: boolean
  /** When the first attempt failed. */
  since: number | undefined
}

const pause = (attempt: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, Math.min(50 * 2 ** attempt, 1_000) * (0.5 + Math.random()))
  })

/**
 * A birth whose place, or an effect whose idempotency key, was taken in the same instant: not a bug but two requests at
 * once.
 */
const taken = ({ birth }: OwnedAppend, cause: unknown) =>
  cause instanceof pg.DatabaseError &&
  (cause.table === "idempotency" || (birth !== undefined && cause.table === "heads"))

const unknown = new Error(
  "an append that was in doubt: its head has moved on since under another owner, or may move yet"
)

export const appends = (database: Pick<Database["Service"], "write">, lanes: number) => {
  const actorsOf = (requests: ReadonlyArray<AppendRequest>) => requests.map((request) => request.item)
  const succeed = (requests: ReadonlyArray<AppendRequest>) => {
    for (const { answer } of requests) answer(Effect.void)
  }
  const fail = (requests: ReadonlyArray<AppendRequest>, cause: unknown) => {
    for (const { answer } of requests) answer(Effect.fail(new JournalUnavailable({ cause })))
  }

  /** Answers those that have won; the rest. */
  const write = async (requests: ReadonlyArray<AppendRequest>) => {
    record(appendsPerStatement, requests.length)
    const rows = await database.write<{ o: number }>(appendStatement(actorsOf(requests)))
    const won = new Set(rows.map((row) => row.o))
    succeed(requests.filter((_, o) => won.has(o)))
    return requests.filter((_, o) => !won.has(o))
  }

  const readFates = async (requests: ReadonlyArray<AppendRequest>) => {
    const rows = await database.write<SeenRow>(confirmStatement(actorsOf(requests)))
    const heads = new Map(
      rows.map((row) => [row.o, { ...row, owner: row.owner === null ? null : fromUuid("node", row.owner) }])
    )
    return Map.groupBy(requests, ({ item }, o) => fateOf(item, heads.get(o)))
  }

  /** Answers those whose heads show them done; the rest. */
  const confirm = async (requests: ReadonlyArray<AppendRequest>) => {
    const fates = await readFates(requests)
    const done = fates.get("done") ?? []
    succeed(done)
    return requests.filter((request) => !done.includes(request))
  }

  /** Answers all. */
  const refuse = async (requests: ReadonlyArray<AppendRequest>, { doubtful }: Trouble) => {
    const fates = doubtful ? await readFates(requests) : Map.groupBy(requests, (): Fate => "refused")
    succeed(fates.get("done") ?? [])
    fail(fates.get("unknown") ?? [], unknown)
    const refused = fates.get("refused") ?? []
    record(appendsRefused, refused.length)
    for (const { answer, item } of refused) answer(Effect.fail(new Superseded({ actor: item.actor })))
  }

  const settleEach = async (parts: ReadonlyArray<ReadonlyArray<AppendRequest>>, trouble: Trouble) => {
    record(batchesRepeated)
    for (const part of parts) await settle(part, trouble)
  }

  const settle = async (requests: ReadonlyArray<AppendRequest>, trouble: Trouble): Promise<void> => {
    let open = requests
    let isRefused = false
    for (let attempt = 0; ; attempt++) {
      try {
        if (trouble.doubtful) open = await confirm(open)
        if (!isRefused && open.length > 0) open = await write(open)
        return await refuse(open, trouble)
      } catch (cause) {
        if (isUnavailable(cause)) {
          trouble.doubtful ||= !isUndone(cause)
          const now = performance.now()
          trouble.since ??= now
          if (now - trouble.since > patienceMs) return fail(open, cause)
          if (isTimeout(cause) && open.length > 1) {
            const half = Math.ceil(open.length / 2)
            return await settleEach([open.slice(0, half), open.slice(half)], trouble)
          }
          record(batchesRepeated)
          await pause(attempt)
        } else if (open.length > 1) {
          return await settleEach(
            open.map((request) => [request]),
            trouble
          )
        } else {
          const { answer, item } = open[0]!
          if (!taken(item, cause)) {
            record(appendsInconsistent)
            return answer(Effect.die(new Inconsistent({ actor: item.actor, cause })))
          }
          isRefused = true
        }
      }
    }
  }

  const options: BatchOptions<OwnedAppend, void, Superseded | JournalUnavailable> = {
    max: maxBatch,
    size: { of: sizeOf, most: maxCharacters },
    lanes,
    key: (append) => append.actor.id,
    run: (requests) =>
      settle(
        [...requests].sort((a, b) => byActor(a.item, b.item)),
        { doubtful: false, since: undefined }
      )
  }
  const submit = batched(options)
  // What was sent may be committed: its caller stays to hear of it.
  return (append: OwnedAppend) => Effect.uninterruptible(submit(append))
}
