/** A schedule as people look at it: its instants and its runs, and nothing of its message. */
import { toTimestamp } from "../../src/domain/time.ts"
import { defineInspected } from "../inspected.ts"
import { chart } from "./chart.ts"
import type { Firing } from "./commands.ts"
import { blank, type Context, evolve } from "./context.ts"
import type { Fact } from "./facts.ts"
import { stateOf } from "./fold.ts"

/** Codes of commands in journals: added to, never changed. */
export const causes = { configure: 1, due: 2, run: 3, started: 4, refused: 5, freed: 6, poison: 7 } as const

const shown = ({ by, runId, scheduledAt }: Firing) => ({ runId, by, scheduledAt: toTimestamp(scheduledAt) })

export const makeScheduleInspected = (factOf: Parameters<typeof defineInspected<Fact, Context>>[0]["factOf"]) =>
  defineInspected<Fact, Context>({
    chart,
    causes,
    begin: () => blank,
    factOf,
    evolve,
    stateOf,
    // A run may wait with no instant behind it.
    answered: { hasMoment: ({ next }) => (next === null ? false : undefined) },
    doing: (context) => {
      const { firing, held, lastTurn, next } = context
      return [
        ...(firing === null ? [] : [{ type: "start", runId: firing.runId }]),
        ...(held === null ? [] : [{ type: "watch", runId: held.runId, ...lastTurn }]),
        ...(next === null || stateOf(context) !== "armed" ? [] : [{ type: "pause", until: toTimestamp(next.moment) }])
      ]
    },
    context: ({ disabledReason, enabled, failures, firing, held, last, lastTurn, next, queued }) => ({
      enabled,
      ...(disabledReason === null ? {} : { disabledReason }),
      ...(next === null ? {} : { nextAt: toTimestamp(next.instant), dueAt: toTimestamp(next.moment) }),
      ...(firing === null ? {} : { firing: shown(firing) }),
      ...(held === null ? {} : { held: shown(held) }),
      queued: queued.map(shown),
      failures,
      ...(last === null ? {} : { last: { at: toTimestamp(last.at), status: last.status } }),
      ...(lastTurn === null ? {} : { lastTurn })
    })
  })
