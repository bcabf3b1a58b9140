/**
 * What an append settles of the model call that was under way: its reservation goes with the fact that tells what
 * became of it, and its cost is booked with that. A call that was cut off costs its prompt's price, which the
 * reservation knows: by an interrupt, and by a provider that had begun to answer and has not said what was used. A
 * provider that has refused to answer costs nothing.
 */
import { reservationOf, summaryReservationOf } from "../../src/agents/Budgets.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import type { Settled } from "../../src/journal/Journal.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Command } from "../../machines/thread/commands.ts"
import type { Turn } from "../../machines/thread/context.ts"

interface Settlement {
  readonly settles: ReadonlyArray<Settled> | undefined
  /** USD. */
  readonly spent: number
}

const nothing: Settlement = { settles: undefined, spent: 0 }

const costing = (id: string, usage: ModelUsage | undefined): Settlement => {
  const cost = usage?.estimatedCost ?? 0
  return { settles: [{ id, cost }], spent: cost }
}

/** The statement that removes the reservation books its prompt's price. */
const cutOff = (id: string): Settlement => ({ settles: [{ id }], spent: 0 })

/** The reservation of the model call that the state implies. */
const underWay = (before: Snapshot, turn: Turn) => {
  if (before.matches({ running: "sampling" })) return reservationOf(turn)
  return before.matches({ running: "compacting" }) && turn.round !== undefined
    ? summaryReservationOf({ turnId: turn.turnId, step: turn.step, round: turn.round.name })
    : undefined
}

/** `command` is what has led from `before` to `next`; one without effect is not written. */
export const settledIn = (before: Snapshot, next: Snapshot, command: Command | undefined): Settlement => {
  const { turn } = before.context
  if (turn?.plan.priced !== true) return nothing
  const id = underWay(before, turn)
  if (id === undefined) return nothing
  switch (command?.type) {
    case "model.failed":
    case "summary.failed":
      return command.begun === true && command.usage === undefined ? cutOff(id) : costing(id, command.usage)
    case "model.replied":
    case "summary.made":
      return costing(id, command.usage)
    // What a provider refuses for its length costs nothing.
    case "prompt.long":
      return costing(id, undefined)
    default:
      return next.context.turn?.turnId === turn.turnId ? nothing : cutOff(id)
  }
}
