/** Messages on their way to a thread: to its owner, or by the inbox where that cannot be reached. */
import { Effect, Schema } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { Origin, Principal } from "../../src/domain/principal.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import type { ActorRef, Journal } from "../../src/journal/Journal.ts"
import type { Lease } from "../../src/journal/Lease.ts"
import { shardOf } from "../../src/journal/shard.ts"
import type { Quotas } from "../../src/quotas/Quotas.ts"
import { forwarded, record } from "../../src/telemetry/metrics.ts"
import type { ThreadAttributes } from "../../src/threads/detail.ts"
import { type ActorError, KeyReused, type Reply } from "../Actor.ts"
import { replayed, rowOf } from "../kept.ts"
import { unreachable } from "../live.ts"
import { isUnknown } from "../Registry.ts"
import { isStorable } from "./forwardable.ts"
import type { Of, ThreadRequest } from "./requests.ts"
import { attributesText } from "./settings.ts"
import type { SentInput, StartedThread, ThreadCaller } from "./Threads.ts"
import type { Births } from "./tools/exchange.ts"

export const threadRef = (workspace: string, threadId: string): ActorRef => ({
  workspace,
  kind: "thread",
  id: threadId
})

/** Who sent a message, with what is said of where it came from. */
export const withOrigin = (principal: Principal, origin: Origin | undefined): Principal =>
  origin === undefined ? principal : { ...principal, origin }

const readBirth = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ input: Schema.Unknown })))

/** The answer to its first message, as a new thread gives it beside itself. */
const inputIn = ({ body }: Reply): Reply => ({ kind: "created", body: JSON.stringify(readBirth(body).input) })

interface Sending {
  readonly bus: Pick<Bus["Service"], "wake">
  readonly journal: Pick<Journal["Service"], "key" | "post">
  readonly lease: Pick<Lease["Service"], "now">
  readonly quotas: Pick<Quotas["Service"], "add">
  readonly ask: (caller: ThreadCaller, threadId: string, request: ThreadRequest) => Effect.Effect<Reply, ActorError>
  readonly ensure: Births["ensure"]
}

export const makeSending = ({ ask, bus, ensure, journal, lease, quotas }: Sending) => {
  /** Kept for an owner that cannot be reached: answered as queued, and delivered once it can. */
  const post = Effect.fnUntraced(function* (
    { key, workspace }: ThreadCaller,
    threadId: string,
    request: Extract<ThreadRequest, { type: "submit" }>
  ) {
    const actor = threadRef(workspace, threadId)
    const { content, inputId: id, mode: submitMode, model, principal } = request.input
    const queuedAt = Math.floor(lease.now())
    const answer: Reply = {
      kind: "created",
      body: JSON.stringify({
        id,
        content,
        queuedAt: toTimestamp(queuedAt),
        submitMode,
        turnId: sibling("turn", id),
        principal,
        ...(model === undefined ? {} : { model }),
        state: "queued"
      })
    }
    // Whoever finds the row asks the journal whether the input has been taken.
    const { fresh: _, ...stored } = request
    const row = {
      id,
      actor,
      command: JSON.stringify({ ...stored, input: { ...request.input, queuedAt }, acknowledged: true })
    }
    const posted = yield* Effect.mapError(journal.post(row, key && rowOf(key, answer)), unreachable)
    if (posted) {
      quotas.add(workspace, "stored_bytes", Buffer.byteLength(row.command))
      record(forwarded.with({ outcome: "posted" }))
      bus.wake(shardOf(threadId))
      return answer
    }
    // Its owner has taken it after all, and kept the answer.
    const kept = key && (yield* Effect.mapError(journal.key(workspace, key.scope), unreachable))
    if (kept === undefined) return yield* unreachable()
    if (kept.fingerprint !== key?.fingerprint) return yield* new KeyReused()
    return replayed(kept)
  })

  /** Whoever asks, the owner answers; one that cannot be reached gets it by the inbox. */
  const sendOrPost = (caller: ThreadCaller, threadId: string, request: Of<"submit">) =>
    ask(caller, threadId, request).pipe(
      Effect.catchTag("Unreachable", (failure) =>
        failure.elsewhere === true && isStorable(request) ? post(caller, threadId, request) : Effect.fail(failure)
      )
    )

  const submitAs = (
    { principal, workspace }: Pick<ThreadCaller, "workspace" | "principal">,
    threadId: string,
    input: SentInput
  ) => sendOrPost({ principal, workspace }, threadId, { type: "submit", input: { ...input, principal } })

  /**
   * The birth with its message; where the thread may be there already, the message as any other: its answer says
   * whether the birth came about. One that is refused may have come about before, under what held then; a thread that
   * is not there, and that nothing refuses, is being born where that cannot be seen.
   */
  const start = (
    caller: Pick<ThreadCaller, "workspace" | "principal">,
    { agentId, identity, maxCost, threadId, ...message }: StartedThread
  ) => {
    const { principal, workspace } = caller
    const input = { ...message, mode: "queue" as const }
    const attributes: ThreadAttributes = {
      ...(identity === undefined ? {} : { identity }),
      ...(maxCost === undefined ? {} : { maxCost }),
      createdBy: principal
    }
    const orElse = (unborn: ActorError) =>
      Effect.catchIf(submitAs(caller, threadId, input), isUnknown, () => Effect.fail(unborn))
    return Effect.matchEffect(
      ensure(
        threadRef(workspace, threadId),
        { parent: agentId, attributes: attributesText(attributes) },
        { type: "submit", creating: true, input: { ...input, principal } }
      ),
      {
        onSuccess: (born) => (born === undefined ? orElse(unreachable()) : Effect.succeed(inputIn(born))),
        onFailure: (failure) => orElse(failure._tag === "Refused" ? failure : unreachable())
      }
    )
  }

  return { sendOrPost, start, submitAs }
}
