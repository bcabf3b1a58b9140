/** A model call runs only when it can be paid for. */
import { Effect } from "effect"
import type { Budgets } from "../../src/agents/Budgets.ts"
import { ModelFailure, type Prompt } from "../../src/models/Model.ts"
import type { Price, Prices } from "../../src/models/prices.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Turn } from "../../machines/thread/context.ts"
import type { Unreachable } from "../Actor.ts"
import type { ActorView, Start } from "../Kind.ts"
import { costOfThread, payerOf, spendingThreads } from "./settings.ts"

export interface Paying {
  readonly budgets: Pick<Budgets["Service"], "during" | "reserve">
  /** Whether what the thread costs has a limit now. */
  readonly isCapped: (being: ActorView<Snapshot>) => Effect.Effect<boolean, Unreachable>
  /** Tries until it is had. */
  readonly needed: <A, E>(what: Effect.Effect<A, E>) => Effect.Effect<A>
  readonly prices: Prices
}

/** A call of a model, which may cost something. */
export interface PricedCall {
  /** Of its reservation: a digest, which calls that are free need not have. */
  readonly id: () => string
  readonly modelId: string
  readonly prompt: Prompt
  readonly maxOutputTokens?: number | undefined
  /** Of the job that makes it. */
  readonly start: Pick<Start, "isOver">
}

const overBudget = {
  model_not_priced: "The turn's agent or thread has a budget by now, and the model has no known price.",
  budget_exceeded: "The rest of the agent's budget does not cover the call of this model.",
  thread_cost_exceeded: "The rest of the thread's maxCost does not cover the call of this model."
}

export const makePaying = ({ budgets, isCapped, needed, prices }: Paying) => {
  /** Refuses a call to a turn; `serves` where a model that comes later in its plan may take it. */
  const refusing = (
    { plan, target }: Turn,
    code: keyof typeof overBudget,
    serves: (price: Price) => boolean
  ): Effect.Effect<never, ModelFailure> =>
    Effect.fail(
      new ModelFailure({
        code,
        text: overBudget[code],
        transient: false,
        unavailable: plan.models.slice(target + 1).some((id) => serves(prices.of(id)))
      })
    )

  /** Sets aside what the call may cost; fails where nothing is left for it. */
  const setAside = (
    being: ActorView<Snapshot>,
    turn: Turn,
    { modelId, prompt, maxOutputTokens }: PricedCall,
    id: string
  ): Effect.Effect<void, ModelFailure> =>
    Effect.flatMap(
      needed(
        budgets.reserve({
          workspace: being.ref.workspace,
          id,
          agentId: payerOf(being),
          threadIds: spendingThreads(being),
          known: costOfThread(being),
          ...prices.foreseen(modelId, prompt, maxOutputTokens)
        })
      ),
      (verdict) => (verdict === "reserved" ? Effect.void : refusing(turn, verdict, (price) => price === "free"))
    )

  /** A call of a model, where what it may cost can be paid for. */
  return <A>(being: ActorView<Snapshot>, turn: Turn, priced: PricedCall, call: Effect.Effect<A, ModelFailure>) => {
    switch (prices.of(priced.modelId)) {
      case "free":
        return call
      // A limit may have come since the turn was planned: nobody could say what the call costs.
      case "unknown":
        return Effect.flatMap(needed(isCapped(being)), (capped) =>
          capped ? refusing(turn, "model_not_priced", (price) => price !== "unknown") : call
        )
      case "priced": {
        if (turn.plan.priced !== true) return call
        const id = priced.id()
        return budgets.during(
          { workspace: being.ref.workspace, id },
          priced.start,
          Effect.andThen(setAside(being, turn, priced, id), call)
        )
      }
    }
  }
}
