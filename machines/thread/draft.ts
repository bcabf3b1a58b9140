/**
 * A change of a thread in the making: the context as it will be, the facts that say so, the jobs it
 * asks for. The chart's actions are written with it; nobody else sees it unfinished.
 */
import type { Context, Turn } from "./context.ts"
import { type Fact, isPublic } from "./facts.ts"

export type Job =
  | { readonly type: "sample"; readonly params: { readonly turnId: string; readonly step: number; readonly modelId: string; readonly attempt: number } }
  | { readonly type: "runTool"; readonly params: { readonly turnId: string; readonly toolCallId: string; readonly name: string; readonly input: unknown } }
  | { readonly type: "abandon"; readonly params: { readonly turnId: string } }

export type Said<F extends Fact["type"]> = Extract<Fact, { readonly type: F }>

export class Draft {
  context: Context
  readonly facts: Array<Fact> = []
  readonly jobs: Array<Job> = []

  constructor(context: Context) {
    this.context = context
  }

  get turn(): Turn {
    if (this.context.turn === null) throw new Error("no turn runs")
    return this.context.turn
  }

  set(change: Partial<Context>) {
    this.context = { ...this.context, ...change }
  }

  setTurn(change: Partial<Turn>) {
    this.set({ turn: { ...this.turn, ...change } })
  }

  /** Records a fact of a turn; `pos` and, of a public one, `seq` move on. */
  say(fact: Fact) {
    const { pos, seq, turn } = this.context
    this.facts.push(fact)
    this.set({
      pos: pos + 1,
      seq: isPublic(fact) ? seq + 1 : seq,
      ...(turn !== null && turn.turnId === fact.turnId ? { turn: { ...turn, events: turn.events + 1 } } : {})
    })
  }

  ask(job: Job) {
    this.jobs.push(job)
  }
}
