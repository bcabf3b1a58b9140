/**
 * What an append settles of the model call that was under way: its reservation goes with the fact that tells what
 * became of it, and its cost is booked with that. A call that was cut off costs its prompt's price, which the
 * reservation knows.
 */
import { reservationOf, summaryReservationOf } from "../../src/agents/Budgets.ts"
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
    case "model.replied":
    case "model.failed":
    case "summary.made":
    case "summary.failed": {
      const cost = command.usage?.estimatedCost ?? 0
      return { settles: [{ id, cost }], spent: cost }
    }
    // What a provider refuses for its length costs nothing.
    case "prompt.long":
      return { settles: [{ id, cost: 0 }], spent: 0 }
    default:
      return next.context.turn?.turnId === turn.turnId ? nothing : { settles: [{ id }], spent: 0 }
  }
}
