/** An identity as people look at it. */
import { toTimestamp } from "../../src/domain/time.ts"
import { defineInspected } from "../inspected.ts"
import { chart, type Context, type Fact } from "./chart.ts"

/** Codes of commands in journals: added to, never changed. */
export const causes = { disable: 1, enable: 2 } as const

export const identityInspected = defineInspected<Fact, Context>({
  chart,
  causes,
  begin: () => ({ disabled: null }),
  factOf: ({ at, event, type }) => ({
    type: type === "identity_disabled" ? type : "identity_enabled",
    at,
    ...JSON.parse(event)
  }),
  evolve: (_, { at, by, type }) => ({ disabled: type === "identity_disabled" ? { at, by } : null }),
  stateOf: ({ disabled }) => (disabled === null ? "enabled" : "disabled"),
  doing: () => [],
  context: ({ disabled }) =>
    disabled === null ? {} : { disabledAt: toTimestamp(disabled.at), disabledBy: disabled.by }
})
