import { Schema } from "effect"

/** USD, more than 0. */
export const MaxCost = Schema.Finite.check(Schema.isGreaterThan(0))
