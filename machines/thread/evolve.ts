import { queuedBefore } from "../../src/domain/input.ts"
import { addUsage, dollars, type ModelUsage, noUsage } from "../../src/domain/usage.ts"
import * as calls from "./callState.ts"
import type { Rewrite } from "./commands.ts"
import { type Call, type OpenWait, parked, ranFor, type Turn } from "./context.ts"
import type {
  AttemptFailed,
  Compacted,
  Compacting,
  Fact,
  HookDecisionFact,
  ResponseDetail,
  TurnFact,
  UserMessage,
  WaitResolved
} from "./facts.ts"

const changeCall = (turn: Turn, toolCallId: string, change: (call: Call) => Call): Turn => ({
  ...turn,
  calls: turn.calls.map((call) => (call.toolCallId === toolCallId ? change(call) : call))
})

/** What a turn has used once a response of its own is counted. */
const counted = ({ charged, plan, usage }: Turn, more: ModelUsage): Pick<Turn, "usage" | "charged"> => ({
  usage: addUsage(usage, more),
  ...(more.estimatedCost === undefined || plan.priced === true
    ? {}
    : { charged: dollars((charged ?? 0) + more.estimatedCost) })
})

/** Without what is over once a response has come. */
const settled = (turn: Turn): Turn => {
  // Most turns have neither: every response comes by here, and to leave something out copies all the rest.
  if (turn.emptied === undefined && turn.reviewing === undefined) return turn
  const { emptied: _, reviewing: __, ...rest } = turn
  return rest
}

/** A response has come: attempts begin anew. One that was under judgment has been counted when it came. */
const responded = (turn: Turn, response: ResponseDetail | undefined): Turn => {
  if (response === undefined) {
    const { reviewing: _, ...rest } = turn
    return rest
  }
  return {
    ...settled(turn),
    attempt: 1,
    step: response.step,
    ...(turn.reviewing === undefined ? counted(turn, response.usage) : {})
  }
}

const passedMessage = (
  { opening, ...turn }: Turn,
  rewrite: Rewrite | undefined,
  hooks: ReadonlyArray<number> | undefined
): Turn => {
  const [message, ...others] = opening?.messages ?? []
  if (message === undefined) return turn
  const rest = hooks ?? message.hooks.slice(1)
  const messages =
    rest.length === 0 ? others : [{ ...message, content: rewrite?.content ?? message.content, hooks: rest }, ...others]
  return messages.length === 0 ? turn : { ...turn, opening: { messages } }
}

/** Text of a rewritten response; its calls stay. */
const passedReply = (turn: Turn, rewrite: Rewrite | undefined, hooks: ReadonlyArray<number> | undefined): Turn => {
  const { reviewing } = turn
  if (reviewing === undefined) return turn
  const text = rewrite?.content?.map((block) => (block.type === "text" ? block.text : "")).join("")
  return {
    ...turn,
    reviewing: {
      reply: text === undefined ? reviewing.reply : { ...reviewing.reply, text },
      hooks: hooks ?? reviewing.hooks.slice(1)
    }
  }
}

const passedTurn = (turn: Turn, rewrite: Rewrite | undefined, hooks: ReadonlyArray<number> | undefined): Turn =>
  turn.opening !== undefined ? passedMessage(turn, rewrite, hooks) : passedReply(turn, rewrite, hooks)

const judged = (turn: Turn, fact: HookDecisionFact): Turn => {
  const {
    detail,
    event: { hook, toolCallId }
  } = fact
  if (toolCallId !== undefined) return changeCall(turn, toolCallId, (call) => calls.judgedCall(call, fact))
  // An ask brings its rewrite along as what is asked about; a deny ends it; defer is no opinion.
  const rewrite = hook.decision === "allow" || hook.decision === "ask" ? detail?.rewrite : undefined
  if (hook.decision === "deny") return turn
  // The hook that asks is not through yet.
  const hooks = ([asking, ...later]: ReadonlyArray<number>) =>
    hook.decision === "ask" && asking !== undefined ? [asking, ...(detail?.hooks ?? later)] : detail?.hooks
  return passedTurn(turn, rewrite, hooks(turn.opening?.messages[0]?.hooks ?? turn.reviewing?.hooks ?? []))
}

const parkedOn = (turn: Turn, wait: OpenWait, toolCallId: string | undefined): Turn => {
  if (toolCallId !== undefined) return changeCall(turn, toolCallId, (call) => calls.parkedCall(call, wait))
  const { opening, reviewing } = turn
  if (opening !== undefined) return { ...turn, opening: { ...opening, wait } }
  return reviewing === undefined ? turn : { ...turn, reviewing: { ...reviewing, wait } }
}

/** Without the wait; where the fact has a detail, what waited goes on. */
const answered = (turn: Turn, fact: WaitResolved): Turn => {
  const {
    detail,
    event: { toolCallId }
  } = fact
  if (toolCallId !== undefined) return changeCall(turn, toolCallId, (call) => calls.answeredCall(call, fact))
  const { opening, reviewing } = turn
  const { wait: _, ...open } = opening ?? { messages: [] }
  const free: Turn =
    opening !== undefined
      ? { ...turn, opening: open }
      : reviewing === undefined
        ? turn
        : { ...turn, reviewing: { reply: reviewing.reply, hooks: reviewing.hooks } }
  return detail === undefined ? free : passedTurn(free, detail.rewrite, detail.hooks)
}

/** A message of the turn: it opens it, or joins it. */
const spokenTo = (turn: Turn, fact: UserMessage, seq: number): Turn => {
  const hooks = fact.detail?.hooks
  const { inputId } = fact.event
  const hops = Math.max(turn.hops ?? 0, fact.detail?.hops ?? 0)
  const spoken = {
    ...turn,
    repliesTo: seq,
    ...(hops === 0 ? {} : { hops }),
    inputs: [...turn.inputs, { inputId, seq, queuedAt: fact.detail?.queuedAt ?? queuedBefore(inputId, fact.at) }]
  }
  if (hooks === undefined) return spoken
  const { content, principal, submitMode } = fact.event
  return {
    ...spoken,
    opening: {
      ...turn.opening,
      messages: [...(turn.opening?.messages ?? []), { n: fact.n, content, principal, submitMode, hooks }]
    }
  }
}

/** A model call that came to nothing. */
const attempted = (turn: Turn, fact: AttemptFailed): Turn => {
  const { attempt, empty, retryAt, step, target, usage } = fact.detail
  const { retryAt: _, ...rest } = turn
  return {
    ...rest,
    step,
    target,
    attempt,
    ...(usage === undefined ? {} : counted(turn, usage)),
    ...(empty === undefined ? {} : { emptied: empty }),
    ...(retryAt === undefined ? {} : { retryAt })
  }
}

/** A turn after its round has begun. */
const compacting = (turn: Turn, { detail, event }: Compacting): Turn => {
  const { attempt: name, throughSeq } = event.compaction
  const { builds, overflowed } = turn.rounds?.step === detail.step ? turn.rounds : { builds: 0, overflowed: false }
  const rounds =
    name === "overflow"
      ? { step: detail.step, builds, overflowed: true }
      : { step: detail.step, builds: builds + 1, overflowed }
  return { ...turn, step: detail.step, rounds, round: { name, throughSeq, pos: detail.pos, modelId: event.modelId } }
}

/** A turn after its round is over. */
const compacted = ({ round, ...turn }: Turn, { event }: Compacted): Turn =>
  event.failureCode === undefined || round?.name === "overflow" ? turn : { ...turn, unbuilt: true }

const within = (turn: Turn, fact: TurnFact, seq: number): Turn | null => {
  switch (fact.type) {
    case "user_message":
      return spokenTo(turn, fact, seq)
    case "assistant_message":
    case "response_emptied":
      return responded(turn, fact.detail)
    case "tool_intent":
      return responded({ ...turn, calls: [...turn.calls, calls.intendedCall(fact)] }, fact.detail.response)
    case "hook_decision":
      return judged(turn, fact)
    case "wait_created": {
      const { toolCallId, toolsetId, waitId } = fact.event
      return parkedOn(
        turn,
        { waitId, createdAt: fact.at, ...(toolsetId === undefined ? {} : { toolsetId }), ...fact.detail },
        toolCallId
      )
    }
    case "wait_resolved":
      return answered(turn, fact)
    case "call_started":
      return changeCall(turn, fact.detail.toolCallId, calls.placedCall)
    case "result_received":
      return changeCall(turn, fact.detail.toolCallId, (call) => calls.returnedCall(call, fact))
    case "tool_result": {
      const { toolCallId, usage } = fact.event
      return {
        ...turn,
        resulted: true,
        calls: turn.calls.filter((call) => call.toolCallId !== toolCallId),
        ...(usage === undefined ? {} : { usage: addUsage(turn.usage, usage) })
      }
    }
    case "response_received": {
      const { hooks, reply } = fact.detail
      return {
        ...settled(turn),
        attempt: 1,
        step: reply.step,
        ...counted(turn, reply.usage),
        reviewing: { reply, hooks }
      }
    }
    case "compacting":
      return compacting(turn, fact)
    case "compacted":
      return compacted(turn, fact)
    case "attempt_failed":
      return attempted(turn, fact)
    case "attempt_started": {
      const { retryAt: _, ...rest } = turn
      return rest
    }
    case "turn_completed":
    case "turn_cancelled":
    case "turn_failed":
      return null
    default:
      // A fact of a newer version, read after a rollback, is none of the three ends.
      fact satisfies never
      return turn
  }
}

/** Running time stops where all that is left are answers, and starts anew once one of them came. */
const timed = (before: Turn, after: Turn, at: number): Turn => {
  if (parked(before) === parked(after)) return after
  return parked(after) ? { ...after, ranMs: ranFor(before, at) } : { ...after, runningSince: at }
}

/** A turn after one more of its facts; null when it is over. `pos` and `seq` are the fact's own. */
export const evolve = (turn: Turn | null, fact: Fact, pos: number, seq: number): Turn | null => {
  if (fact.turnId === null) return turn
  if (turn !== null && turn.turnId === fact.turnId) {
    const next = within({ ...turn, events: turn.events + 1 }, fact, seq)
    return next === null ? null : timed(turn, next, fact.at)
  }
  if (fact.type !== "user_message" || fact.detail?.plan === undefined) return turn
  const { plan } = fact.detail
  const opened: Turn = {
    turnId: fact.turnId,
    plan,
    principal: fact.event.principal,
    openedPos: pos,
    runningSince: fact.at,
    ranMs: 0,
    events: 0,
    step: 1,
    target: 0,
    attempt: 1,
    usage: noUsage,
    inputs: [],
    repliesTo: seq,
    calls: []
  }
  return within({ ...opened, events: 1 }, fact, seq)
}
