/**
 * The node's one writer: groups appends while the last group is under way, and settles each of them.
 *
 * W1. One append of an actor at a time; at most 128 in a statement (more only adds latency).
 * W2. A batch that fails for a reason of its own is repeated one append at a time, so that the guilty
 *     one is found and the others pass (J3).
 * W3. After a lost connection nothing is repeated before the heads have been read (J4); for about 5 s,
 *     then the callers hear `JournalUnavailable`.
 */
import { Effect } from "effect"
import pg from "pg"
import { type BatchOptions, batched, type Request } from "../store/batches.ts"
import { appendsInconsistent, appendsPerStatement, appendsRefused, batchesRepeated, record } from "../telemetry/metrics.ts"
import { type Database, isRepeatable, isUnavailable } from "../store/Database.ts"
import { appendStatement, byActor, confirmStatement, type OwnedAppend } from "./appendStatement.ts"
import { Inconsistent, JournalUnavailable, Superseded } from "./Journal.ts"

const maxBatch = 128
const patienceMs = 5_000

type AppendRequest = Request<OwnedAppend, void, Superseded | JournalUnavailable>
interface Won {
  readonly o: number
}

const pause = (attempt: number) =>
  new Promise<void>((resolve) => { setTimeout(resolve, Math.min(50 * 2 ** attempt, 1_000) * (0.5 + Math.random())) })

/** A birth whose place, or an effect whose idempotency key, was taken in the same instant: not a bug but two requests at once. */
const taken = ({ birth }: OwnedAppend, cause: unknown) =>
  cause instanceof pg.DatabaseError && (cause.table === "idempotency" || (birth !== undefined && cause.table === "heads"))

export const appends = (database: Database["Service"], lanes: number) => {
  const actorsOf = (requests: ReadonlyArray<AppendRequest>) => requests.map((request) => request.item)
  const write = async (requests: ReadonlyArray<AppendRequest>) => {
    record(appendsPerStatement, requests.length)
    const won = new Set((await database.write<{ o: number }>(appendStatement(actorsOf(requests)))).map((row) => row.o))
    return (_: unknown, o: number) => won.has(o)
  }
  /** Answers those whose heads show them done; the rest. */
  const confirm = async (requests: ReadonlyArray<AppendRequest>) => {
    const rows: ReadonlyArray<Won> = await database.write<{ o: number }>(confirmStatement(actorsOf(requests)))
    const done = new Set(rows.map((row) => row.o))
    for (const o of done) requests[o]!.answer(Effect.void)
    return requests.filter((_, o) => !done.has(o))
  }
  const refuse = (requests: ReadonlyArray<AppendRequest>) => {
    record(appendsRefused, requests.length)
    for (const { answer, item } of requests) answer(Effect.fail(new Superseded({ actor: item.actor })))
  }

  const settle = async (requests: ReadonlyArray<AppendRequest>): Promise<void> => {
    let open = requests
    /** An attempt before may have been committed. */
    let doubtful = false
    let since = 0
    for (let attempt = 0; open.length > 0; attempt++) {
      try {
        if (doubtful) open = await confirm(open)
        if (open.length === 0) return
        const isWon = await write(open)
        const lost = open.filter((request, o) => !isWon(request, o))
        for (const request of open.filter(isWon)) request.answer(Effect.void)
        open = []
        if (lost.length > 0) {
          open = lost
          refuse(doubtful ? await confirm(lost) : lost)
        }
        return
      } catch (cause) {
        if (isUnavailable(cause)) {
          doubtful ||= !isRepeatable(cause)
          if (since === 0) since = performance.now()
          if (performance.now() - since > patienceMs) {
            for (const { answer } of open) answer(Effect.fail(new JournalUnavailable({ cause })))
            return
          }
          record(batchesRepeated)
          await pause(attempt)
        } else if (open.length > 1) {
          record(batchesRepeated)
          for (const request of open) await settle([request])
          return
        } else {
          const { answer, item } = open[0]!
          if (taken(item, cause)) return refuse(open)
          record(appendsInconsistent)
          return answer(Effect.die(new Inconsistent({ actor: item.actor, cause })))
        }
      }
    }
  }

  const options: BatchOptions<OwnedAppend, void, Superseded | JournalUnavailable> = {
    max: maxBatch,
    lanes,
    key: (append) => append.actor.id,
    run: (requests) => settle([...requests].sort((a, b) => byActor(a.item, b.item)))
  }
  const submit = batched(options)
  // What was sent may be committed: its caller stays to hear of it.
  return (append: OwnedAppend) => Effect.uninterruptible(submit(append))
}
