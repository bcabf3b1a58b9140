/**
 * What a thread knows: its waiting inputs, its running turn, and the little that outlives a turn.
 * Plain data; where the thread stands is the chart's state, never a second field here.
 */
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { addUsage, type ModelUsage, noUsage } from "../../src/domain/usage.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Plan } from "./commands.ts"

export interface OpenWait {
  readonly waitId: string
  readonly toolsetId: string
  readonly expiresAt: number
}

/** A call without a result. */
export interface Call {
  readonly toolCallId: string
  readonly providerToolCallId: string
  readonly name: string
  readonly input: unknown
  readonly rerunnable: boolean
  readonly phase: "ready" | "running" | "parked"
  readonly wait?: OpenWait
}

export interface Turn {
  readonly turnId: string
  readonly principal: Principal
  readonly plan: Plan
  /** pos of the fact that opened it. */
  readonly openedPos: number
  /** Running time ends here; it starts anew when the turn leaves awaiting. */
  readonly deadlineAt: number
  /** Events of this turn so far: numbers the next one. */
  readonly events: number
  /** The response being sampled, or last sampled while calls run: from 1. */
  readonly step: number
  /** Index into the plan's models; a fallback lasts until the turn ends. */
  readonly target: number
  readonly attempt: number
  readonly retryAt?: number
  readonly usage: ModelUsage
  /** seq of the newest user_message in the prompt. */
  readonly repliesTo: number
  readonly calls: ReadonlyArray<Call>
}

/** What stays when a turn is over: the head's carry. */
export interface Carry {
  /** Every turn that ended. */
  readonly usage: ModelUsage
  /** First model of the last admitted turn. */
  readonly model?: string
  /** The last turn, unless it completed. */
  readonly last?: { readonly turnId: string; readonly outcome: "failed" | "cancelled" }
}

export interface Context {
  readonly pos: number
  readonly seq: number
  /** Accepted and not admitted, in order of arrival. */
  readonly pending: ReadonlyArray<Input>
  readonly turn: Turn | null
  readonly carry: Carry
}

export const blank: Context = { pos: 0, seq: 0, pending: [], turn: null, carry: { usage: noUsage } }

/** The carry when another turn has ended. */
export const ended = ({ last: _, ...carry }: Carry, turnId: string, outcome: "completed" | "failed" | "cancelled", usage: ModelUsage): Carry => ({
  ...carry,
  usage: addUsage(carry.usage, usage),
  ...(outcome === "completed" ? {} : { last: { turnId, outcome } })
})

export const interrupted: Failure = { code: "turn_interrupted", text: "The turn ended before the call returned." }
