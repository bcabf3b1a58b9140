/**
 * Hooks and waits, whatever they are about: what a decision leaves in the log, what an ask opens, what
 * an answer or an expiry closes. The subject is a call, or the turn: its messages, its response.
 */
import { sibling } from "../../src/domain/ids.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { AnswerWait, HookDecided, Rewrite } from "./commands.ts"
import { type Call, isApproved, openWaits, type OpenWait, roundOf, type Turn } from "./context.ts"
import type { Draft } from "./draft.ts"
import type { WaitResolved } from "./facts.ts"
import { messageSubject, responseSubject } from "./subject.ts"

type NewWait = Omit<OpenWait, "createdAt">

/** The wait of an ask; none where a person has allowed it for the whole thread. */
export const askOf = (d: Draft, decided: HookDecided, tool: string | undefined): NewWait | undefined => {
  if (decided.decision !== "ask" || isApproved(d.context.carry, decided.hookId, tool)) return undefined
  const { ask, at, deliveryId, hookId, index, point, processor, reason } = decided
  return {
    waitId: sibling("wait", deliveryId),
    type: "hook_ask",
    target: ask.target,
    expiresAt: at + ask.timeoutMs,
    onTimeout: ask.onTimeout,
    hook: { hookId, index, point, processor, deliveryId },
    ...(reason === undefined ? {} : { reason })
  }
}

/** An ask that was answered for the whole thread is an allow. */
export const sayDecision = (d: Draft, decided: HookDecided, wait: NewWait | undefined) => {
  const { at, deliveryId, hookId, hooks, index, latencyMs, message, point, processor, rewrite, toolCallId } = decided
  const before = decided.decision === "ask" && wait === undefined
  const reason = before ? "Allowed for this thread." : decided.reason
  const detail = {
    ...(message === undefined ? {} : { message }),
    ...(rewrite === undefined ? {} : { rewrite }),
    ...(hooks === undefined ? {} : { hooks })
  }
  d.emit({
    type: "hook_decision",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {
      hook: {
        hookId,
        index,
        point,
        processor,
        decision: before ? "allow" : decided.decision,
        latencyMs,
        deliveryId,
        ...(reason === undefined ? {} : { reason }),
        ...(rewrite === undefined ? {} : { rewrote: true })
      },
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(wait === undefined ? {} : { waitId: wait.waitId })
    },
    ...(Object.keys(detail).length === 0 ? {} : { detail })
  })
}

export const deniedBy = ({ failed, reason }: Pick<HookDecided, "failed" | "reason">): Failure =>
  failed === true
    ? { code: "hook_failed", text: reason ?? "The hook gave no answer that counts." }
    : { code: "hook_denied", text: reason ?? "A hook denied it." }

export const park = (d: Draft, { toolsetId, waitId, ...detail }: NewWait, at: number, call?: Call) => {
  d.emit({
    type: "wait_created",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {
      waitId,
      ...(call === undefined ? {} : { toolCallId: call.toolCallId, toolName: call.name }),
      ...(toolsetId === undefined ? {} : { toolsetId }),
      usage: d.turn.usage
    },
    detail
  })
}

interface Resolution {
  readonly outcome: WaitResolved["event"]["waitResult"]["outcome"]
  readonly by?: Principal
  readonly reason?: string
  readonly output?: unknown
  /** What waited goes on, with a place or without. */
  readonly goesOn?: true
  readonly started?: boolean
  readonly rewrite?: Rewrite
  readonly hooks?: ReadonlyArray<number>
  /** Nor asked again in this thread. */
  readonly forAll?: true
}

export const resolve = (
  d: Draft,
  wait: OpenWait,
  at: number,
  { forAll, goesOn, hooks, rewrite, started, ...waitResult }: Resolution,
  call?: Call
) => {
  const by = wait.hook?.hookId ?? wait.grant
  const message = wait.hook?.point === "before_turn_start" ? d.turn.opening?.messages[0]?.n : undefined
  d.emit({
    type: "wait_resolved",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {
      waitId: wait.waitId,
      ...(call === undefined ? {} : { toolCallId: call.toolCallId }),
      ...(wait.toolsetId === undefined ? {} : { toolsetId: wait.toolsetId }),
      waitResult
    },
    ...(goesOn === undefined
      ? {}
      : {
          detail: {
            ...(started === true ? { started } : {}),
            ...(message === undefined ? {} : { message }),
            ...(rewrite === undefined ? {} : { rewrite }),
            ...(hooks === undefined ? {} : { hooks }),
            ...(forAll === undefined || by === undefined
              ? {}
              : { approval: { by, ...(call === undefined ? {} : { tool: call.name }) } })
          }
        })
  })
}

/** The job of what the turn itself has under judgment, if nobody is asked about it yet. */
export const judgingJob = ({ opening, reviewing, step, turnId }: Turn): Draft["jobs"][number] | undefined => {
  const message = opening?.messages[0]
  const first = message?.hooks[0]
  if (message !== undefined && first !== undefined) {
    const { n, principal } = message
    return opening?.wait !== undefined
      ? undefined
      : {
          type: "askHook",
          params: {
            turnId,
            step,
            index: first,
            message: n,
            principal,
            data: messageSubject(message)
          }
        }
  }
  const index = reviewing?.hooks[0]
  if (reviewing === undefined || index === undefined || reviewing.wait !== undefined) return undefined
  return {
    type: "askHook",
    params: {
      turnId,
      step,
      index,
      data: responseSubject(reviewing.reply)
    }
  }
}

const askNext = (d: Draft) => {
  const job = judgingJob(d.turn)
  if (job !== undefined) d.enqueue(job)
}

/** A hook has judged a message or the response, and does not deny. */
export const decideTurn = (d: Draft, decided: HookDecided) => {
  const ask = askOf(d, decided, undefined)
  sayDecision(d, decided, ask)
  if (ask === undefined) askNext(d)
  else park(d, ask, decided.at)
}

/** Somebody has allowed what the turn waits for. */
export const answerTurn = (d: Draft, { answer, at, hooks, principal }: AnswerWait, wait: OpenWait) => {
  if (answer.type !== "decision") return
  const { reason, rewrite, scope } = answer
  resolve(d, wait, at, {
    outcome: "allow",
    by: principal,
    goesOn: true,
    ...(reason === undefined ? {} : { reason }),
    ...(rewrite === undefined ? {} : { rewrite }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(scope === "thread" ? { forAll: true } : {})
  })
  askNext(d)
}

/** The wait of the turn itself is over, and its hook takes that for an allow. */
export const expireTurn = (d: Draft, wait: OpenWait, at: number) => {
  resolve(d, wait, at, { outcome: "expired", goesOn: true })
  askNext(d)
}

/** The hook is the one that is being asked, about what it was asked. */
export const isAsked = ({ calls, opening, reviewing, step, turnId }: Turn, event: HookDecided): boolean => {
  if (event.turnId !== turnId) return false
  switch (event.point) {
    case "before_turn_start":
      return (
        opening !== undefined &&
        opening.wait === undefined &&
        opening.messages[0]?.n === event.message &&
        opening.messages[0]?.hooks[0] === event.index
      )
    case "after_model_response":
      return (
        reviewing !== undefined &&
        reviewing.wait === undefined &&
        step === event.step &&
        reviewing.hooks[0] === event.index
      )
    default: {
      const call = calls.find((other) => other.toolCallId === event.toolCallId)
      return (
        call?.state.type === (event.point === "before_tool_call" ? "judging" : "judgingResult") &&
        call.hooks[0] === event.index &&
        roundOf(call).round === event.round
      )
    }
  }
}

export const expired = (turn: Turn, at: number) => openWaits(turn).filter(({ wait }) => wait.expiresAt <= at)

/** Why a turn ends with what was decided: what is said of the decision before, and the failure. */
export interface HookDenial {
  readonly failure: Failure
  readonly emit: (d: Draft) => void
}

const waitExpired: Failure = { code: "wait_expired", text: "Nobody answered in time." }

/** A hook denies a message or the response: the turn ends. A call that is denied gets a result. */
export const hookDenial = (turn: Turn, event: HookDecided): HookDenial | undefined =>
  event.decision !== "deny" || event.toolCallId !== undefined || !isAsked(turn, event)
    ? undefined
    : { failure: deniedBy(event), emit: (d) => sayDecision(d, event, undefined) }

/** A person denies a message or the response. */
export const personDenial = (turn: Turn, { answer, at, principal: by, waitId }: AnswerWait): HookDenial | undefined => {
  const found = openWaits(turn).find(({ wait }) => wait.waitId === waitId)
  if (found === undefined || found.call !== undefined || answer.type !== "decision" || answer.decision !== "deny")
    return undefined
  const { reason } = answer
  return {
    failure: deniedBy(reason === undefined ? {} : { reason }),
    emit: (d) => resolve(d, found.wait, at, { outcome: "deny", by, ...(reason === undefined ? {} : { reason }) })
  }
}

/** Whether nobody's answer in time means that the turn fails. */
export const failsTurn = ({ call, wait }: ReturnType<typeof openWaits>[number]) =>
  wait.onTimeout === "fail" || (call === undefined && wait.onTimeout === "deny")

/** A wait is over whose end means that the turn fails. */
export const waitFailure = (turn: Turn, at: number): HookDenial | undefined => {
  const late = expired(turn, at).find(failsTurn)
  return late === undefined
    ? undefined
    : { failure: waitExpired, emit: (d) => resolve(d, late.wait, at, { outcome: "expired" }, late.call) }
}
