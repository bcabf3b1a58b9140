/**
 * A fresh input that could not be paid for is refused to its sender, rather than as a turn that fails. Only what has
 * been spent counts here; what runs now is asked for before each call (Budgets.ts).
 */
import { Effect } from "effect"
import { flatMapNow } from "../../src/now.ts"
import type { AgentView } from "../../src/agents/Directory.ts"
import type { Attributes } from "../../src/journal/Journal.ts"
import type { Prices } from "../../src/models/prices.ts"
import type { Plan } from "../../machines/thread/commands.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { Declined, type Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { costOfThread, payerOf, settingsOf, spendingThreads } from "./settings.ts"

export interface SpendingCaps {
  readonly prices: Prices
  readonly agentOf: (workspace: string, agentId: string) => Effect.Effect<AgentView | undefined, Unreachable>
  /** What the agent has spent in its budget's window: it may be five seconds old. */
  readonly spentLately: (
    workspace: string,
    agentId: string,
    window: AgentView["window"]
  ) => Effect.Effect<number, Unreachable>
  /** The same as of now, and seconds until something is left of its limit. */
  readonly spentNow: (
    workspace: string,
    agentId: string,
    agent: Required<Pick<AgentView, "limit" | "window">>
  ) => Effect.Effect<{ readonly spent: number; readonly retryAfterSeconds?: number }, Unreachable>
  /** The thread's attributes as they are now: they are edited past the actor. */
  readonly attributesOf: (being: ActorView<Snapshot>) => Effect.Effect<Attributes | undefined, Unreachable>
}

/** Anything but its price: read where the actor's own text may be older than an edit. */
const maxCostIn = (text: string): number | undefined => {
  const attributes: unknown = JSON.parse(text)
  return typeof attributes === "object" &&
    attributes !== null &&
    "maxCost" in attributes &&
    typeof attributes.maxCost === "number"
    ? attributes.maxCost
    : undefined
}

/** Whether what a thread costs has a limit now: its payer's budget, its own maxCost, or that of a thread that asked. */
export const makeIsCapped =
  ({
    agentOf,
    attributesIn
  }: Pick<SpendingCaps, "agentOf"> & {
    readonly attributesIn: (workspace: string, threadId: string) => Effect.Effect<Attributes | undefined, Unreachable>
  }) =>
  (being: ActorView<Snapshot>): Effect.Effect<boolean, Unreachable> =>
    flatMapNow(agentOf(being.ref.workspace, payerOf(being)), (agent) => {
      if (agent?.limit !== undefined) return Effect.succeed(true)
      const maxCosts = Effect.forEach(spendingThreads(being), (threadId) =>
        Effect.map(attributesIn(being.ref.workspace, threadId), (found) => found && maxCostIn(found.text))
      )
      return Effect.map(maxCosts, (found) => found.some((maxCost) => maxCost !== undefined))
    })

export const makeCaps = ({ agentOf, attributesOf, prices, spentLately, spentNow }: SpendingCaps) => {
  const ofThread = Effect.fnUntraced(function* (being: ActorView<Snapshot>, maxCost: number) {
    const cost = costOfThread(being)
    if (cost < maxCost) return
    const { maxCost: now } = { maxCost: maxCostIn((yield* attributesOf(being))?.text ?? being.attributes) }
    if (now === undefined || cost < now) return
    return yield* new Declined({
      reason: "thread_cost_exceeded",
      message: `The thread has cost ${cost} USD of its maxCost of ${now}. Raise it to go on.`
    })
  })

  const ofAgent = Effect.fnUntraced(function* (being: ActorView<Snapshot>) {
    const { workspace } = being.ref
    const agentId = payerOf(being)
    const agent = yield* agentOf(workspace, agentId)
    if (agent?.limit === undefined) return
    const { limit, window } = agent
    // Mostly from memory: where that may be older than it should, the call itself is refused.
    if ((yield* spentLately(workspace, agentId, window)) < limit) return
    const { spent, retryAfterSeconds } = yield* spentNow(workspace, agentId, { limit, window })
    if (spent < limit) return
    return yield* new Declined({
      reason: "budget_exceeded",
      message: `The agent has spent ${spent} USD of its budget of ${limit}.`,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
    })
  })

  /** Passes where a model of the plan costs nothing. */
  return (being: ActorView<Snapshot>, plan: Plan): Effect.Effect<void, Declined | Unreachable> => {
    if (plan.priced !== true || plan.models.some((id) => prices.of(id) === "free")) return Effect.void
    const { maxCost } = settingsOf(being)
    return maxCost === undefined ? ofAgent(being) : Effect.andThen(ofThread(being, maxCost), ofAgent(being))
  }
}
export type Payable = ReturnType<typeof makeCaps>
