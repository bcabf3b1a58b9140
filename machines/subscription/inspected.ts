/** A subscription as people look at it: how far it has come, and what it has in hand; no message of its feed. */
import { toTimestamp } from "../../src/domain/time.ts"
import { defineInspected } from "../inspected.ts"
import { chart } from "./chart.ts"
import { blank, type Batch, type Context, stateOf } from "./context.ts"
import { jobsOf } from "./draft.ts"
import { evolve } from "./evolve.ts"
import type { Fact } from "./facts.ts"

/** Codes of commands in journals: added to, never changed. */
export const causes = {
  configure: 1,
  disable: 2,
  delete: 3,
  listed: 4,
  notice: 5,
  due: 6,
  evaluated: 7,
  unevaluated: 8,
  submitted: 9,
  refused: 10,
  passed: 11,
  poison: 12
} as const

const shown = ({ count, from, hops, inputId, threadId, to }: Batch) => ({ from, to, count, hops, threadId, inputId })

export const makeSubscriptionInspected = (factOf: Parameters<typeof defineInspected<Fact, Context>>[0]["factOf"]) =>
  defineInspected<Fact, Context>({
    chart,
    causes,
    begin: () => blank,
    factOf,
    evolve,
    stateOf,
    answered: {
      staleListing: ({ listing }) => (listing === null ? true : undefined),
      archivedFeed: ({ disabled }) => (disabled === null ? undefined : false),
      staleLook: ({ look }) => (look === null ? true : undefined),
      staleBatch: ({ batch }) => (batch === null ? true : undefined),
      pauseOverInHand: ({ batch }) => (batch === null ? false : undefined),
      pauseOverUnread: ({ batch, listing }) => (batch === null && listing?.looks === true ? undefined : false),
      pauseOver: ({ batch, listing }) => (batch === null && listing?.looks !== true ? undefined : false)
    },
    doing: (context) => [
      ...jobsOf(context).flatMap(({ params, type }) => (type === "abandon" ? [] : [{ type, ...params }])),
      ...(stateOf(context) === "backingOff" && context.retryAt !== null
        ? [{ type: "pause", until: toTimestamp(context.retryAt) }]
        : []),
      ...(stateOf(context) === "collecting" && context.until !== null
        ? [{ type: "gather", until: toTimestamp(context.until) }]
        : [])
    ],
    context: ({ attempts, batch, cursor, disabled, last, noticed, refusals, version }) => ({
      version,
      ...(disabled === null ? {} : { disabledReason: disabled }),
      cursor,
      noticed,
      ...(batch === null ? {} : { batch: shown(batch) }),
      attempts,
      refusals,
      ...(last === null ? {} : { last: { ...last, at: toTimestamp(last.at) } })
    })
  })
