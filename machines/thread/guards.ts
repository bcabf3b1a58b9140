/**
 * Guards of the thread's chart: each has one meaning and one name, since composed guards are anonymous.
 */
import { isFull } from "../../src/domain/turnNumbers.ts"
import type { Input } from "../../src/domain/input.ts"
import { runs } from "./callState.ts"
import type { Admission, Command, HookDecided, ModelFailed, ModelReplied, PromptLong } from "./commands.ts"
import { isCurrentRound } from "./compaction.ts"
import {
  type Context,
  deadlineOf,
  knownInput,
  openWaits,
  parked,
  roomForMessage,
  roomForResponse,
  type Turn
} from "./context.ts"
import * as judging from "./judging.ts"
import * as turns from "./turn.ts"

interface GuardArgs {
  readonly context: Context
  readonly event: Command
}

/** How a waiting input would run, as the command says. */
export const admissionFor = (event: Command, input: Input): Admission => {
  const admission = "admissions" in event ? event.admissions[input.inputId] : undefined
  if (admission === undefined) throw new Error(`${event.type} does not say how ${input.inputId} would run`)
  return admission
}

/** It is the outcome of the model call that is under way (T3). */
const isCurrent = (turn: Turn | null, event: ModelReplied | ModelFailed | PromptLong) =>
  turn !== null &&
  event.turnId === turn.turnId &&
  event.step === turn.step &&
  event.attempt === turn.attempt &&
  event.modelId === turn.plan.models[turn.target]

const isAsked = (turn: Turn | null, event: HookDecided) => turn !== null && judging.isAsked(turn, event)

/** A steer joins, and the turn may have another response. */
const goesOnSteered = ({ context: { pending, turn }, event }: GuardArgs) =>
  turn !== null &&
  mayRespond(turn) &&
  pending.some((input) => turns.joins(input, turn, "admissions" in event ? event.admissions : {}))

/** Whether the turn may have another response. */
export const mayRespond = (turn: Turn) => turn.step < turn.plan.maxSteps && roomForResponse(turn)

/** A model that says nothing after results of tools has finished. */
const isFinished = ({ context: { turn }, event }: GuardArgs) =>
  event.type === "model.failed" && event.empty === true && turn?.resulted === true

const retryOf = ({ context: { turn }, event }: GuardArgs) =>
  event.type === "model.failed" && turn !== null ? turns.afterFailure(turn, event) : undefined

const isReviewed = (turn: Turn | null) => turn?.reviewing?.hooks.length === 0

const isSettled = (turn: Turn | null): turn is Turn => turn !== null && turn.calls.length === 0

export const guards = {
  // Inputs

  /** The same input has been taken: a second one is answered, and changes nothing. */
  takenBefore: ({ context, event }: GuardArgs) =>
    event.type === "submit" && knownInput(context, event.input.inputId) !== undefined,
  interrupts: ({ event }: GuardArgs) =>
    event.type === "submit" ? event.input.mode === "interrupt" : event.type === "promote" && event.mode === "interrupt",
  clearsQueue: ({ context, event }: GuardArgs) =>
    event.type === "cancel" && event.clearQueue && context.pending.length > 0,
  /** Something waits, and the command says how it would run. */
  inputWaits: ({ context, event }: GuardArgs) => "admissions" in event && context.pending.length > 0,
  /** A steer of the turn waits, and there is room for it. */
  steersJoin: ({ context: { pending, turn }, event }: GuardArgs) =>
    turn !== null &&
    pending.length > 0 &&
    roomForMessage(turn) &&
    pending.some((input) => turns.joins(input, turn, "admissions" in event ? event.admissions : {})),
  nextRefused: ({ context, event }: GuardArgs) => {
    const next = turns.nextInput(context.pending)
    return "admissions" in event && next !== undefined && "refused" in admissionFor(event, next)
  },

  // The thread as a whole

  unarchived: ({ context: { carry } }: GuardArgs) => carry.archivedAt === undefined,
  compactionUnwanted: ({ context: { carry } }: GuardArgs) => carry.compactionWanted === undefined,

  // The model

  stale: ({ context: { turn }, event }: GuardArgs) =>
    (event.type === "model.replied" || event.type === "model.failed" || event.type === "prompt.long") &&
    !isCurrent(turn, event),
  staleRound: ({ context: { turn }, event }: GuardArgs) =>
    (event.type === "summary.made" || event.type === "summary.failed") && !isCurrentRound(turn, event),
  failsOverflow: ({ context: { turn } }: GuardArgs) => turn?.round?.name === "overflow",
  replyToJudge: ({ event }: GuardArgs) => event.type === "model.replied" && (event.hooks?.length ?? 0) > 0,
  callsTools: ({ event }: GuardArgs) => event.type === "model.replied" && event.calls.length > 0,
  steered: goesOnSteered,
  finishes: isFinished,
  finishesSteered: (args: GuardArgs) => isFinished(args) && goesOnSteered(args),
  retriesLater: (args: GuardArgs) => retryOf(args)?.retryAt !== undefined,
  retriesNow: (args: GuardArgs) => {
    const retry = retryOf(args)
    return retry !== undefined && retry.retryAt === undefined && retry.target === args.context.turn?.target
  },
  triesNextModel: (args: GuardArgs) => {
    const retry = retryOf(args)
    return retry !== undefined && retry.retryAt === undefined && retry.target !== args.context.turn?.target
  },
  pauseOver: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "due" && turn?.retryAt !== undefined && event.at >= turn.retryAt,

  // Judgement

  messageToJudge: ({ context: { turn } }: GuardArgs) => turn?.opening !== undefined,
  messagesPassed: ({ context: { turn } }: GuardArgs) => turn?.opening === undefined,
  unasked: ({ context: { turn }, event }: GuardArgs) => event.type === "hook.decided" && !isAsked(turn, event),
  hookDenies: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "hook.decided" && turn !== null && judging.hookDenial(turn, event) !== undefined,
  personDenies: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "answer" && turn !== null && judging.personDenial(turn, event) !== undefined,
  waitFails: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "due" && turn !== null && judging.waitFailure(turn, event.at) !== undefined,
  waitOpen: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "answer" && openWaits(turn).some(({ wait }) => wait.waitId === event.waitId),
  waitExpires: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "due" && turn !== null && judging.expired(turn, event.at).length > 0,
  reviewed: ({ context: { turn } }: GuardArgs) => isReviewed(turn),
  reviewedCalls: ({ context: { turn } }: GuardArgs) =>
    isReviewed(turn) && turn?.reviewing !== undefined && turn.reviewing.reply.calls.length > 0,
  reviewedSteered: (args: GuardArgs) => isReviewed(args.context.turn) && goesOnSteered(args),

  // Calls and the turn as a whole

  callReturns: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "tool.returned" &&
    turn !== null &&
    event.turnId === turn.turnId &&
    turn.calls.some((call) => call.toolCallId === event.toolCallId && runs(call)),
  settled: ({ context: { turn } }: GuardArgs) => isSettled(turn),
  settledInSteps: ({ context: { turn } }: GuardArgs) => isSettled(turn) && mayRespond(turn),
  parked: ({ context: { turn } }: GuardArgs) => turn !== null && parked(turn),
  unparked: ({ context: { turn } }: GuardArgs) => turn === null || !parked(turn),
  full: ({ context: { turn } }: GuardArgs) => turn !== null && isFull(turn.events),
  overdue: ({ context: { turn }, event }: GuardArgs) =>
    event.type === "due" && turn !== null && event.at - (event.queuedMs ?? 0) >= deadlineOf(turn)
}
