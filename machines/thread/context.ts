/**
 * What a thread knows: its waiting inputs, its running turn, and the little that outlives a turn.
 * Plain data; where the thread stands is the chart's state, never a second field here.
 */
import type { Beside } from "../../src/domain/beside.ts"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { FinishReason, ToolReveal } from "../../src/domain/event.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { messageFits, responseFits } from "../../src/domain/turnNumbers.ts"
import { type ModelUsage, noUsage } from "../../src/domain/usage.ts"
import type { HookRef, OnTimeout, Plan, ModelAnswer, RoundName, WaitTarget } from "./commands.ts"

export interface OpenWait {
  readonly waitId: string
  readonly type: "client_tool" | "hook_ask" | "role_approval"
  readonly target: WaitTarget
  readonly createdAt: number
  readonly expiresAt: number
  /** What its expiry means; a client's call that nobody answered is a failed call, whatever stands here. */
  readonly onTimeout: OnTimeout
  readonly toolsetId?: string
  readonly reason?: string
  /** Of a hook that decided ask. */
  readonly hook?: HookRef
  /** Of a role that wants a person's word: which grant. */
  readonly grant?: string
}

/** How a call came out, before the hooks of after_tool_result have seen it. */
export interface Returned {
  readonly output?: unknown
  readonly beside?: Beside
  readonly failure?: Failure
  readonly durationMs?: number
  readonly reveal?: ToolReveal
  readonly usage?: ModelUsage
}

/**
 * What a call came to: its output, or its failure's words. Hooks of after_tool_result judge it, and may put something
 * else in its place.
 */
export const wordOf = ({ failure, output }: Returned): unknown =>
  failure === undefined ? (output ?? null) : failure.text

/** What stood beside the word goes with it: nobody has judged the two apart. */
export const withWord = ({ beside: _, failure, output: __, ...returned }: Returned, word: unknown): Returned =>
  failure === undefined
    ? { ...returned, output: word }
    : { ...returned, failure: { ...failure, text: typeof word === "string" ? word : JSON.stringify(word) } }

/** Where a call without a result stands: callChart.ts shows it, callState.ts says what each fact makes of it. */
export type CallState =
  /** Somebody is asked about it in the same step, or a client is told to execute it. */
  | { readonly type: "wanted" }
  /** It wants a place among those that run: for its hooks, its run, or the hooks of what it has returned. */
  | { readonly type: "waiting"; readonly returned?: Returned }
  /** A hook is asked about it, or it runs: it has a place. */
  | { readonly type: "judging" | "running" }
  /** A person is asked, by a role or by a hook, or a client executes it. */
  | { readonly type: "approving" | "asking" | "client"; readonly wait: OpenWait }
  /** It has a place while hooks are asked about what it has returned. */
  | { readonly type: "judgingResult"; readonly returned: Returned }
  | { readonly type: "askingResult"; readonly returned: Returned; readonly wait: OpenWait }

export interface Call {
  readonly toolCallId: string
  readonly providerToolCallId: string
  readonly name: string
  /** As the model gave it, or as a hook or a person has rewritten it. */
  readonly input: unknown
  readonly toolsetId?: string
  readonly rerunnable: boolean
  readonly state: CallState
  /** The grant that wants a person's word first, and whether a person has given it. */
  readonly grant?: { readonly key: string; readonly isGiven: boolean }
  /** A client executes it. */
  readonly client?: { readonly timeoutMs: number }
  /** Indices of the hooks that have still to answer: before it runs, or after. */
  readonly hooks: ReadonlyArray<number>
  /** How often each hook has decided about it, by index. */
  readonly decided?: Readonly<Record<number, number>>
}

/** Whose answer the call waits for. */
export const waitOf = ({ state }: Pick<Call, "state">): OpenWait | undefined =>
  "wait" in state ? state.wait : undefined

/** What the call has returned, as far as hooks have still to judge it. */
export const returnedOf = ({ state }: Pick<Call, "state">): Returned | undefined =>
  "returned" in state ? state.returned : undefined

/**
 * Which of its questions about the call the hook is asked that is asked now: how often it has decided before. A person
 * who rewrites what was approved has the hooks begin anew, and each question about another input is another one. The
 * first one has no round. Messages, responses and results are judged once through: a rewrite goes on behind the hook
 * that was asked.
 */
export const roundOf = ({ decided, hooks: [index] }: Call): { readonly round?: number } => {
  const round = index === undefined ? undefined : decided?.[index]
  return round === undefined ? {} : { round }
}

/** An input of the running turn: where it was admitted, and since when it had waited. */
export interface Admitted {
  readonly inputId: string
  readonly seq: number
  readonly queuedAt: number
}

/** A user's message that hooks of before_turn_start have still to judge. */
interface Judged {
  /** Number of its event. */
  readonly n: number
  readonly content: MessageContent
  readonly principal: Principal
  readonly submitMode: SubmitMode
  readonly hooks: ReadonlyArray<number>
}

export interface Turn {
  readonly turnId: string
  readonly principal: Principal
  readonly plan: Plan
  /** pos of the fact that opened it. */
  readonly openedPos: number
  /** Since when it runs, or ran before it awaited: the time that it may take starts anew when it leaves awaiting. */
  readonly runningSince: number
  /** Milliseconds that it ran before that, without what it awaited. */
  readonly ranMs: number
  /** Events of this turn so far: numbers the next one. */
  readonly events: number
  /** The response being sampled, or last sampled while calls run: from 1. */
  readonly step: number
  /** Index into the plan's models; a fallback lasts until the turn ends. */
  readonly target: number
  readonly attempt: number
  readonly retryAt?: number
  /** The response being sampled was empty once. */
  readonly emptied?: true
  /** A call of it has its result. */
  readonly resulted?: true
  readonly usage: ModelUsage
  /**
   * USD that its own responses have cost, as far as prices are known: what it is charged for. `usage` does not tell,
   * since it counts models inside of tools too, and has no cost as soon as one price is unknown.
   */
  readonly charged?: number
  /** The input that opened it, and those that joined it since. */
  readonly inputs: ReadonlyArray<Admitted>
  /** seq of the newest user_message in the prompt. */
  readonly repliesTo: number
  /** How many turns lead to this one by way of feeds: the most of any of its inputs; absent: none. */
  readonly hops?: number
  readonly calls: ReadonlyArray<Call>
  /** Messages under judgment, the first of them now. */
  readonly opening?: { readonly messages: ReadonlyArray<Judged>; readonly wait?: OpenWait }
  /** The round of compaction that is under way. */
  readonly round?: OpenRound
  /** Rounds for the response of that step: how many before the model was asked, and whether one after it was. */
  readonly rounds?: { readonly step: number; readonly builds: number; readonly overflowed: boolean }
  /** A round before a model call has failed: no further one of its kind is begun in this turn. */
  readonly unbuilt?: true
  /** A response under judgment: nobody has seen it yet. */
  readonly reviewing?: { readonly reply: ModelAnswer; readonly hooks: ReadonlyArray<number>; readonly wait?: OpenWait }
}

/** Not asked again in this thread: what a person allowed once for all. */
export interface Approval {
  /** A hook's id, or a grant's key. */
  readonly by: string
  readonly tool?: string
}

export interface OpenRound {
  readonly name: RoundName
  readonly throughSeq: number
  /** Position of the last fact that it covers. */
  readonly pos: number
  /** Who summarises. */
  readonly modelId: string
}

/** What stays when a turn is over: the head's carry. */
export interface Carry {
  /** Every turn that ended. */
  readonly usage: ModelUsage
  /** First model of the last admitted turn. */
  readonly model?: string
  /** The last turn, unless it completed. */
  readonly last?: { readonly turnId: string; readonly outcome: "failed" | "cancelled" }
  /**
   * The newest turn, where the model has cut its newest response. An older node keeps it as it is: it names its turn.
   */
  readonly cut?: Cut
  readonly approvals?: ReadonlyArray<Approval>
  /** Tools that results have made callable for the rest of the thread. */
  readonly reveals?: Revealed
  /** Up to where a summary stands in the log's place. */
  readonly compaction?: { readonly pos: number; readonly throughSeq: number }
  /** The next model call comes after a summary. */
  readonly compactionWanted?: true
  /** Since when it takes no input. */
  readonly archivedAt?: number
}

export interface Cut {
  readonly turnId: string
  readonly finishReason: FinishReason
}

export interface Revealed {
  readonly families: ReadonlyArray<string>
  /** `toolsetId/name` of each. */
  readonly tools: ReadonlyArray<string>
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

const numbered = ({ events, opening, plan }: Turn) => ({
  events,
  judged: opening?.messages.length ?? 0,
  models: plan.models.length,
  hooked: plan.hooked === true
})

/** The turn has numbers for one more response, and for all that may follow from it. */
export const roomForResponse = (turn: Turn) => responseFits(numbered(turn))

/** The same, for one more message before that response. */
export const roomForMessage = (turn: Turn) => messageFits(numbered(turn))

/** When the turn has run for as long as it may, if it never stands in line. */
export const deadlineOf = ({ plan, runningSince }: Turn) => runningSince + plan.maxTurnMs

/** How long the turn has run in all, awaiting left out. */
export const ranFor = (turn: Turn, at: number) => turn.ranMs + (parked(turn) ? 0 : at - turn.runningSince)

/** Nothing of the turn runs: all that it waits for are answers. */
export const parked = ({ calls, opening, reviewing }: Turn) =>
  opening?.wait !== undefined ||
  reviewing?.wait !== undefined ||
  (calls.length > 0 && calls.every((call) => waitOf(call) !== undefined))

/**
 * What is known of an input: it waits, or it is of the running turn. What became of older ones stands in the journal.
 */
export const knownInput = ({ pending, turn }: Context, inputId: string): Input | Admitted | undefined =>
  pending.find((input) => input.inputId === inputId) ?? turn?.inputs.find((input) => input.inputId === inputId)

/** The turn's open waits, in the order of what they belong to. */
export const openWaits = (turn: Turn | null): ReadonlyArray<{ readonly wait: OpenWait; readonly call?: Call }> => {
  if (turn === null) return []
  const { calls, opening, reviewing } = turn
  const own = opening?.wait ?? reviewing?.wait
  return [
    ...(own === undefined ? [] : [{ wait: own }]),
    ...calls.flatMap((call) => {
      const wait = waitOf(call)
      return wait === undefined ? [] : [{ wait, call }]
    })
  ]
}

export const isApproved = ({ approvals }: Carry, by: string, tool: string | undefined) =>
  approvals?.some((approval) => approval.by === by && approval.tool === tool) === true

export const interruptedRound: Failure = {
  code: "turn_interrupted",
  text: "The turn ended before the summary was made."
}
export const interrupted: Failure = { code: "turn_interrupted", text: "The turn ended before the call returned." }
