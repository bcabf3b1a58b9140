/**
 * What an append settles of the model call that was under way: its reservation goes with the fact that tells what became
 * of it, and its cost is booked with that. A call that was cut off costs its prompt's price, which the reservation knows.
 */
import { reservationOf } from "../../src/agents/Budgets.ts"
import type { Settled } from "../../src/journal/Journal.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Command } from "../../machines/thread/commands.ts"

interface Settlement {
  readonly settles: ReadonlyArray<Settled> | undefined
  /** USD. */
  readonly spent: number
}

const nothing: Settlement = { settles: undefined, spent: 0 }

/** `command` is what has led from `before` to `next`; one without effect is not written. */
export const settledIn = (before: Snapshot, next: Snapshot, command: Command | undefined): Settlement => {
  const { turn } = before.context
  if (turn?.plan.priced !== true || !before.matches({ running: "sampling" })) return nothing
  const id = reservationOf(turn)
  if (command?.type === "model.replied" || command?.type === "model.failed") {
    const cost = command.usage?.estimatedCost ?? 0
    return { settles: [{ id, cost }], spent: cost }
  }
  return next.context.turn?.turnId === turn.turnId ? nothing : { settles: [{ id }], spent: 0 }
}
