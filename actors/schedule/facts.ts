/** A schedule's facts as the journal's rows, and back. A run is public, as the API shows it. */
import type { Fact } from "../../machines/schedule/facts.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import type { FactRow } from "../../src/journal/Journal.ts"

/** What the API shows of a run, and what only the actor reads. */
const eventOf = (fact: Fact): object => {
  const { at, type: _, ...rest } = fact
  if (fact.type !== "ran") return rest
  const { count, reason, run, status, threadId, turnId } = fact
  return {
    id: run.runId,
    scheduledAt: toTimestamp(run.scheduledAt),
    by: run.by,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(count === undefined ? {} : { count }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(turnId === undefined ? {} : { turnId }),
    ...(status === "started" ? { startedAt: toTimestamp(at) } : {})
  }
}

/** Of a run: what is none of its reader's business, and a fold needs. */
const detailOf = (fact: Fact) => {
  if (fact.type !== "ran" || (fact.next === undefined && fact.run.hops === undefined)) return null
  return JSON.stringify({ next: fact.next, hops: fact.run.hops })
}

export const row = (fact: Fact): FactRow => ({
  type: fact.type,
  turn: null,
  n: 0,
  public: fact.type === "ran",
  event: JSON.stringify(eventOf(fact)),
  detail: detailOf(fact),
  // An instant begins once, whoever comes upon it.
  once: fact.type === "firing" ? fact.run.runId : null,
  at: fact.at
})

/** The journal holds what `row` wrote: the cast says so, and the tests of the fold hold it to that. */
export const factOf = ({ at, detail, event, type }: Pick<WrittenFact, "at" | "detail" | "event" | "type">): Fact => {
  const said = JSON.parse(event)
  if (type !== "ran") return { ...said, type, at } as Fact
  const { by, id, scheduledAt, startedAt: _, ...rest } = said
  const { hops, ...hidden } = detail === null ? {} : JSON.parse(detail)
  const run = { runId: id, scheduledAt: Date.parse(scheduledAt), by, ...(hops === undefined ? {} : { hops }) }
  return { ...rest, ...hidden, type, at, run } as Fact
}
