/**
 * A change of a thread in the making. The chart's actions are written with it; nobody else sees it unfinished.
 */
import type { HookData } from "../../src/domain/hook.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { Draft as Drafting } from "../step.ts"
import type { RoundName } from "./commands.ts"
import { evolve } from "./evolve.ts"
import { evolveCarry } from "./carry.ts"
import type { Call, Context, Turn } from "./context.ts"
import { type Fact, isPublic } from "./facts.ts"

export type Job =
  | {
      readonly type: "sample"
      readonly params: {
        readonly turnId: string
        readonly step: number
        /** Index into the plan's models, and the model there. */
        readonly target: number
        readonly modelId: string
        readonly attempt: number
      }
    }
  | {
      readonly type: "runTool"
      readonly params: {
        readonly turnId: string
        readonly toolCallId: string
        readonly name: string
        readonly input: unknown
        /** It may run again where nobody knows how it ended. */
        readonly rerunnable: boolean
        /** The grant that a person has given the call. */
        readonly approved?: string
      }
    }
  | {
      readonly type: "askHook"
      readonly params: {
        readonly turnId: string
        readonly step: number
        readonly index: number
        readonly data: HookData
        /** Of before_turn_start: the number of the message's event. */
        readonly message?: number
        /** Of before_turn_start: whose message it is, which need not be who began the turn. */
        readonly principal?: Principal
        /** Of a call that was rewritten after the hook had decided: which of its questions this is. */
        readonly round?: number
      }
    }
  | {
      readonly type: "summarise"
      readonly params: {
        readonly turnId: string
        readonly step: number
        readonly round: RoundName
        /** Position of the last fact that it covers. */
        readonly pos: number
        readonly modelId: string
      }
    }
  | { readonly type: "abandon"; readonly params: { readonly turnId: string } }

export type Said<F extends Fact["type"]> = Extract<Fact, { readonly type: F }>

export class Draft extends Drafting<Context, Fact, Job> {
  get turn(): Turn {
    if (this.context.turn === null) throw new Error("no turn runs")
    return this.context.turn
  }

  call(toolCallId: string): Call {
    const call = this.turn.calls.find((other) => other.toolCallId === toolCallId)
    if (call === undefined) throw new Error(`${toolCallId} is not open`)
    return call
  }

  protected evolve(context: Context, fact: Fact): Context {
    const pos = context.pos + 1
    const seq = isPublic(fact) ? context.seq + 1 : context.seq
    return {
      ...context,
      pos,
      seq,
      turn: evolve(context.turn, fact, pos, seq),
      carry: evolveCarry(context.carry, fact)
    }
  }
}
