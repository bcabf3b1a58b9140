/**
 * What went on in a stretch of a log, and when: bars in lanes, made of the events alone, so that a log of a file is
 * drawn as one of a server.
 *
 * L1. A bar begins and ends where events say so. What began before the stretch, or began where the stretch does not
 *     tell, has no bar; what has not ended has no end.
 * L2. The model works from what it has to answer to its first word in the log: its own pauses and tries are within.
 */
import type { LogEvent } from "../../../src/client/follow.ts"
import { bornAt } from "../parts/born.ts"

export const laneNames = {
  inputs: "Inputs",
  model: "Model",
  tools: "Tools",
  hooks: "Hooks",
  waits: "Waits",
  asked: "Threads asked"
} as const
export type Lane = keyof typeof laneNames

export interface Bar {
  readonly lane: Lane
  /** The event that it leads to. */
  readonly seq: number
  readonly label: string
  /** Milliseconds since 1970. */
  readonly from: number
  readonly to: number | undefined
  readonly isBad: boolean
}

const isAsk = (toolName: string | undefined) => toolName === "agents.ask"

const when = ({ occurredAt }: LogEvent) => Date.parse(occurredAt)

interface Open {
  readonly seq: number
  readonly from: number
  readonly label: string
}

/** What is open of a turn while its events are read. */
class Turn {
  /** Since when the model has something to answer. */
  sampling: number | undefined
  summary: Open | undefined
  readonly calls = new Map<string, Open>()
  readonly waits = new Map<string, Open>()
}

class Lanes {
  readonly bars: Array<Bar> = []
  readonly #turns = new Map<string, Turn>()

  #turn(turnId: string) {
    const found = this.#turns.get(turnId)
    if (found !== undefined) return found
    const turn = new Turn()
    this.#turns.set(turnId, turn)
    return turn
  }

  #bar(lane: Lane, seq: number, from: number, to: number | undefined, label: string, isBad = false) {
    this.bars.push({ lane, seq, from: to === undefined ? from : Math.min(from, to), to, label, isBad })
  }

  #model(turn: Turn, { seq }: LogEvent, at: number, label: string, isBad = false) {
    if (turn.sampling !== undefined) this.#bar("model", seq, turn.sampling, at, label, isBad)
    turn.sampling = undefined
  }

  #call(turn: Turn, event: Extract<LogEvent, { readonly type: "tool_result" }>, at: number) {
    const { failureCode, seq, timing, toolCallId } = event
    const call = turn.calls.get(toolCallId)
    turn.calls.delete(toolCallId)
    if (call !== undefined || timing !== undefined) {
      const label = call?.label ?? toolCallId
      // What it waited for before it ran stands in the other lanes.
      const from = timing === undefined ? (call?.from ?? at) : at - timing.durationMs
      this.#bar(isAsk(label) ? "asked" : "tools", call?.seq ?? seq, from, at, label, failureCode !== undefined)
    }
    if (turn.calls.size === 0) turn.sampling = at
  }

  #end(turnId: string, turn: Turn, event: LogEvent, at: number, isBad: boolean) {
    this.#model(turn, event, at, isBad ? event.type.replaceAll("_", " ") : "nothing said", isBad)
    for (const { from, label, seq } of turn.calls.values())
      this.#bar(isAsk(label) ? "asked" : "tools", seq, from, at, label, true)
    for (const { from, label, seq } of turn.waits.values()) this.#bar("waits", seq, from, at, label, true)
    if (turn.summary !== undefined)
      this.#bar("model", turn.summary.seq, turn.summary.from, at, turn.summary.label, true)
    this.#turns.delete(turnId)
  }

  take(event: LogEvent) {
    const at = when(event)
    const { seq, turnId } = event
    const turn = this.#turn(turnId)
    switch (event.type) {
      case "user_message": {
        this.#bar("inputs", seq, bornAt(event.inputId) ?? at, at, event.submitMode)
        if (turn.calls.size === 0) turn.sampling ??= at
        return
      }
      case "assistant_message":
        return this.#model(turn, event, at, event.modelId)
      case "tool_intent":
        this.#model(turn, event, at, event.modelId)
        return void turn.calls.set(event.toolCallId, { seq, from: at, label: event.toolName })
      case "tool_result":
        return this.#call(turn, event, at)
      case "hook_decision": {
        const { decision, index, latencyMs, point } = event.hook
        if (point === "after_model_response") this.#model(turn, event, at - latencyMs, "a response that hooks judge")
        return this.#bar("hooks", seq, at - latencyMs, at, `hook ${index} ${point}: ${decision}`, decision === "deny")
      }
      case "wait_created":
        return void turn.waits.set(event.waitId, { seq, from: at, label: event.toolName ?? "an answer" })
      case "wait_resolved": {
        const wait = turn.waits.get(event.waitId)
        turn.waits.delete(event.waitId)
        if (wait !== undefined) this.#bar("waits", wait.seq, wait.from, at, wait.label)
        return
      }
      case "compacting":
        turn.summary = { seq, from: at, label: `summary, ${event.modelId}` }
        turn.sampling = undefined
        return
      case "compacted": {
        const { summary } = turn
        if (summary !== undefined)
          this.#bar("model", summary.seq, summary.from, at, summary.label, event.failureCode !== undefined)
        turn.summary = undefined
        turn.sampling = at
        return
      }
      case "turn_completed":
        return this.#end(turnId, turn, event, at, false)
      case "turn_failed":
      case "turn_cancelled":
        return this.#end(turnId, turn, event, at, true)
    }
  }

  /** What has not ended, of a stretch that reaches the end of the log. */
  leave(lastSeq: number) {
    for (const turn of this.#turns.values()) {
      if (turn.sampling !== undefined) this.#bar("model", lastSeq, turn.sampling, undefined, "answers")
      for (const { from, label, seq } of turn.calls.values())
        this.#bar(isAsk(label) ? "asked" : "tools", seq, from, undefined, label)
      for (const { from, label, seq } of turn.waits.values()) this.#bar("waits", seq, from, undefined, label)
      if (turn.summary !== undefined)
        this.#bar("model", turn.summary.seq, turn.summary.from, undefined, turn.summary.label)
    }
  }
}

/** In the order of their beginning. `isEnd`: the log ends with the stretch. */
export const barsOf = (events: ReadonlyArray<LogEvent>, isEnd: boolean): ReadonlyArray<Bar> => {
  const lanes = new Lanes()
  for (const event of events) lanes.take(event)
  const last = events.at(-1)
  if (isEnd && last !== undefined) lanes.leave(last.seq)
  return lanes.bars.sort((one, other) => one.from - other.from || one.seq - other.seq)
}
