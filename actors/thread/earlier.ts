/**
 * A request that may have been taken before gets the answer that the log and the rows show. Answers to waits are not
 * among them: the wait's own row knows the answer that it was given (http/waits/resolving.ts).
 */
import { Effect } from "effect"
import { samePrincipal } from "../../src/domain/principal.ts"
import type { ActorRef, Journal, StoredInput } from "../../src/journal/Journal.ts"
import { lastToOpen, pendingState, queuedMessage } from "../../src/threads/detail.ts"
import type { Spend } from "../../src/agents/Spending.ts"
import { readAdmitted, readInput } from "../../src/threads/view.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Reply, Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import type { AdmissionOf } from "./admissions.ts"
import * as answers from "./replies/answers.ts"
import type { ThreadRequest } from "./requests.ts"
import { settingsOf } from "./settings.ts"

type Of<T extends ThreadRequest["type"]> = Extract<ThreadRequest, { readonly type: T }>
type Reads = Pick<Journal["Service"], "attributes" | "input" | "log">
type Earlier = Effect.Effect<Reply | undefined, Unreachable>

export const notTaken: Earlier = Effect.succeed(undefined)

const answer = (kind: "created" | "found", body: object): Reply => ({ kind, body: JSON.stringify(body) })

const stored = (
  journal: Pick<Reads, "input">,
  ref: ActorRef,
  inputId: string,
  tell: (found: StoredInput) => Reply | undefined
): Earlier => Effect.map(Effect.mapError(journal.input(ref, inputId), unreachable), (found) => found && tell(found))

/** Of an input that the journal knows. */
export const inputTaken =
  (journal: Pick<Reads, "input">) =>
  (ref: ActorRef, inputId: string): Earlier =>
    stored(journal, ref, inputId, (found) =>
      // One that was cancelled since had been queued.
      answer(
        "created",
        found.state === "admitted"
          ? readAdmitted(inputId, found.fact)
          : { ...queuedMessage(readInput(found.row), undefined), state: "queued" }
      )
    )

const waitingIn = ({ context: { pending } }: Snapshot, inputId: string) =>
  pending.find((input) => input.inputId === inputId)

/** Of any input: also of one that still waits. */
export const inputAnswer = (journal: Pick<Reads, "input">) => {
  const taken = inputTaken(journal)
  return ({ ref, snapshot }: ActorView<Snapshot>, inputId: string): Earlier => {
    const waiting = waitingIn(snapshot, inputId)
    const turnId = snapshot.context.turn?.turnId
    return waiting === undefined
      ? taken(ref, inputId)
      : Effect.succeed(answer("created", { ...queuedMessage(waiting, turnId), state: pendingState(waiting, turnId) }))
  }
}

export interface PriorReplies {
  readonly admissionOf: AdmissionOf
  readonly journal: Reads
  readonly spendOf: (workspace: string, agentId: string) => Effect.Effect<Spend, Unreachable>
}

export const makePriorReply = ({ admissionOf, journal, spendOf }: PriorReplies) => {
  const inputOf = inputAnswer(journal)

  /** It was admitted in the mode that it was to have. */
  const promoted = ({ ref, snapshot }: ActorView<Snapshot>, { inputId, mode }: Of<"promote">): Earlier => {
    const { turn } = snapshot.context
    const waiting = waitingIn(snapshot, inputId)
    if (waiting === undefined) {
      return stored(journal, ref, inputId, (found) => {
        const admitted = found.state === "admitted" ? readAdmitted(inputId, found.fact) : undefined
        return admitted?.submitMode === mode ? answer("found", admitted) : undefined
      })
    }
    // Promoted once more it would lose its place among others.
    return waiting.mode === mode && waiting.forTurnId === (mode === "steer" ? turn?.turnId : undefined)
      ? Effect.succeed(
          answer("found", { ...queuedMessage(waiting, turn?.turnId), state: pendingState(waiting, turn?.turnId) })
        )
      : notTaken
  }

  /** It was admitted with the words that it was to have, as its editor's. */
  const edited = ({ ref, snapshot }: ActorView<Snapshot>, { content, inputId, principal }: Of<"edit">): Earlier =>
    waitingIn(snapshot, inputId) !== undefined
      ? notTaken
      : stored(journal, ref, inputId, (found) => {
          if (found.state !== "admitted") return undefined
          const { seq: _, state: __, ...message } = readAdmitted(inputId, found.fact)
          const same =
            JSON.stringify(message.content) === JSON.stringify(content) &&
            (principal === undefined || samePrincipal(message.principal, principal))
          return same ? answer("found", message) : undefined
        })

  const removed = ({ ref, snapshot }: ActorView<Snapshot>, { inputId }: Of<"remove">): Earlier =>
    waitingIn(snapshot, inputId) !== undefined
      ? notTaken
      : stored(journal, ref, inputId, (found) => (found.state === "cancelled" ? answers.doneReply : undefined))

  /** The turn that it names was cancelled. */
  const cancelled = Effect.fnUntraced(function* (being: ActorView<Snapshot>, turnId: string) {
    const { ref, snapshot } = being
    const {
      carry: { last },
      pending,
      turn
    } = snapshot.context
    if (turn?.turnId === turnId) return undefined
    if (last?.turnId !== turnId || last.outcome !== "cancelled") {
      const { facts } = yield* Effect.mapError(journal.log(ref, 0, ["turn_cancelled"]), unreachable)
      if (!facts.some((fact) => fact.turn === turnId)) return undefined
    }
    const spend = yield* spendOf(ref.workspace, being.parent ?? "")
    const attributes = yield* Effect.mapError(journal.attributes(ref), unreachable)
    const ahead = lastToOpen(pending, turn?.turnId)
    const admissions = ahead === undefined ? {} : { [ahead.inputId]: yield* admissionOf(settingsOf(being), ahead) }
    return answers.shownThread(being, snapshot, being.head.updatedAt, spend, attributes, admissions)
  })

  return (being: ActorView<Snapshot>, request: ThreadRequest): Earlier => {
    switch (request.type) {
      case "submit":
        return inputOf(being, request.input.inputId)
      case "retry":
        return inputOf(being, request.inputId)
      case "promote":
        return promoted(being, request)
      case "edit":
        return edited(being, request)
      case "remove":
        return removed(being, request)
      case "cancel":
        if (request.turnId !== undefined) return cancelled(being, request.turnId)
        // The turn that runs now may be there because the one that was meant was cancelled.
        return being.snapshot.context.turn === null ? notTaken : Effect.fail(unreachable())
      default:
        return notTaken
    }
  }
}
