/**
 * The one way of every endpoint that answers a wait.
 *
 * V1. The first answer that the thread decides wins; the same one again is answered as it was, whoever
 *     repeats it. Until the wait is over it is open, whatever the clock.
 * V2. What a wait is for does not change: an answer of the wrong type is told so, also when it is too late.
 */
import { Effect } from "effect"
import { Threads } from "../../actors/thread/Threads.ts"
import type { PendingWait } from "../../src/domain/thread.ts"
import type { DecidedAnswer } from "../../src/waits/answer.ts"
import { Database, type DatabaseUnavailable } from "../../src/database/Database.ts"
import { markOf, waitBody } from "../../src/waits/waitRow.ts"
import { findWait, type FoundWait } from "../../src/waits/reads.ts"
import { refuseWith } from "../actorErrors.ts"
import type { Caller } from "../Caller.ts"
import { type everywhere, Refused } from "../errors.ts"
import type { KeptAnswer, Key, KeyTaken } from "../Idempotency.ts"
import { threadCallerOf } from "../threads/threadCaller.ts"
import { answerOfWait } from "../threads/answers.ts"
import { makeWrites } from "../writes.ts"
import { resolveWords } from "./api.ts"

type Said = Effect.Effect<
  KeptAnswer,
  Refused<(typeof resolveWords)[number]> | Refused<(typeof everywhere)[number]> | DatabaseUnavailable | KeyTaken
>

export const noWait = () => new Refused({ error: "not_found", message: "no such wait" })

const refuseResolve = refuseWith(...resolveWords)

const mismatch = (type: PendingWait["type"]) =>
  new Refused({
    error: "wait_type_mismatch",
    message:
      type === "client_tool"
        ? "this wait is for the result of a tool, not for a decision"
        : "this wait is for a decision, not for the result of a tool"
  })

const takes = (type: PendingWait["type"], answer: DecidedAnswer) =>
  (type === "client_tool") === (answer.type === "tool_result")

const expired = () => new Refused({ error: "wait_expired", message: "nobody answered in time: the wait has expired" })
const already = ({ waitResult }: FoundWait["wait"]) =>
  new Refused({
    error: "wait_already_resolved",
    code: waitResult?.outcome ?? "resolved",
    message:
      waitResult?.outcome === "cancelled"
        ? "the turn was stopped, and the wait with it"
        : "the wait was answered already: " +
          `${waitResult?.outcome}${waitResult?.by === undefined ? "" : ` by ${waitResult.by.type} ${waitResult.by.id}`}`
  })

/** What is said of a wait that is over. */
const over = (found: FoundWait, answer: DecidedAnswer): KeptAnswer | Refused<(typeof resolveWords)[number]> => {
  if (found.wait.state === "expired") return expired()
  return found.mark === markOf(answer) ? { status: 200, body: waitBody(found) } : already(found.wait)
}

export const makeResolveWait = Effect.gen(function* () {
  const database = yield* Database
  const threads = yield* Threads
  const writes = yield* makeWrites

  const settled = (workspace: string, found: FoundWait, answer: DecidedAnswer, key: Key | undefined): Said => {
    const said = over(found, answer)
    return said instanceof Refused ? Effect.fail(said) : writes.keep("waits.keep", workspace, key, said)
  }

  return Effect.fnUntraced(function* (
    caller: Caller["Service"],
    key: Key | undefined,
    find: Effect.Effect<FoundWait | undefined, DatabaseUnavailable>,
    answer: DecidedAnswer
  ) {
    const { workspace } = caller
    const found = yield* find
    if (found === undefined) return yield* noWait()
    const { threadId, wait } = found
    // A delivery's token speaks for the endpoint that was asked, or for the person behind it.
    if (caller.scheme === "DeliveryBearer" && wait.target === "client") {
      return yield* new Refused({
        error: "permission_denied",
        message: "a client was asked, not the holder of this token"
      })
    }
    if (!takes(wait.type, answer)) return yield* mismatch(wait.type)
    if (wait.state !== "open") return yield* settled(workspace, found, answer, key)
    return yield* threads.resolve(threadCallerOf(caller, key), threadId, wait.id, answer).pipe(
      Effect.map(answerOfWait),
      Effect.catch((error): Said => {
        if (error._tag !== "Refused" || error.reason !== "wait_not_open") return refuseResolve(error)
        // Somebody else, the clock or the turn's end was faster: the row says who.
        return Effect.flatMap(findWait(database, workspace, wait.id), (now) =>
          now === undefined || now.wait.state === "open" ? Effect.die(error) : settled(workspace, now, answer, key)
        )
      })
    )
  })
})
