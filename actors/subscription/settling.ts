/**
 * What an append settles of the screen's model call: its reservation goes with the end of the look that it is for, and
 * its cost is booked with that. A call that was cut off costs its prompt's price, which the reservation knows: its look
 * is given up, its provider had begun to answer and has not said what was used, or its outcome is unknown.
 */
import type { Context } from "../../machines/subscription/context.ts"
import { screenReservationOf } from "../../src/agents/Budgets.ts"
import { dollars } from "../../src/domain/usage.ts"
import type { Settled } from "../../src/journal/Journal.ts"
import type { Used } from "./requests.ts"

/** A reservation that was never made is none to settle: nothing happens then. */
export const settledIn = (
  subscriptionId: string,
  before: Context,
  next: Context,
  used: Used | undefined
): ReadonlyArray<Settled> | undefined => {
  const { look, settings } = before
  if (look === null || settings?.screen === undefined || next.look?.number === look.number) return undefined
  const id = screenReservationOf({ id: subscriptionId, look: look.number })
  if (used === undefined || used.cutOff === true) return [{ id }]
  return used.priced ? [{ id, cost: dollars(used.usage?.estimatedCost ?? 0) }] : undefined
}
