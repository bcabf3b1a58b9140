/** The schedule as a kind of actor: its whole state is in its head, and its runs are its public facts. */
import type { Snapshot } from "../../machines/schedule/chart.ts"
import type { Job } from "../../machines/schedule/changes.ts"
import type { Command } from "../../machines/schedule/commands.ts"
import { blank, type Context } from "../../machines/schedule/context.ts"
import { decide, start } from "../../machines/schedule/decide.ts"
import type { Fact } from "../../machines/schedule/facts.ts"
import { makeScheduleInspected } from "../../machines/schedule/inspected.ts"
import { restore, resume } from "../../machines/schedule/fold.ts"
import type { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { announcedBy } from "./announcing.ts"
import { defineKind, type Jobs, type Kind, type KindDefinition, type WriteSet } from "../Kind.ts"
import { record, scheduleLag, scheduleRuns } from "../../src/telemetry/metrics.ts"
import { factOf, row } from "./facts.ts"
import { decodeRequest, type ScheduleRequest } from "./requests.ts"

export interface ScheduleKindOptions {
  readonly prepare: KindDefinition<Snapshot, ScheduleRequest, Command, Job>["prepare"]
  readonly perform: Jobs<Snapshot, ScheduleRequest, Job>["perform"]
  readonly webhooks: Pick<WebhookInterest["Service"], "due" | "has">
}

interface ScheduleWriteSet extends WriteSet {
  readonly happened: ReadonlyArray<Fact>
}

export type ScheduleKind = Kind<Snapshot, ScheduleRequest, Command, Job, ScheduleWriteSet>

/** Behind every fact: nothing is folded, and yet a claim without progress counts while a run is under way. */
const noFacts = 2_147_483_647

const momentOf = ({ firing, held, next }: Context): number | null => {
  if (firing !== null) return firing.scheduledAt
  if (held !== null) return held.scheduledAt
  return next?.moment ?? null
}

/**
 * How late a run begins that its moment began, milliseconds; of instants that coalesced the newest counts. Undefined of
 * one by hand, and of one that has waited for the turn before.
 */
const lagOf = ({ held, next }: Context, fact: Fact): number | undefined => {
  if (fact.type !== "firing" || fact.run.by === "manual" || held?.runId === fact.run.runId) return undefined
  const { scheduledAt } = fact.run
  return Math.max(0, fact.at - (scheduledAt === next?.instant ? next.moment : scheduledAt))
}

const count = (before: Context, facts: ReadonlyArray<Fact>) => {
  for (const fact of facts) {
    const lag = lagOf(before, fact)
    if (lag !== undefined) record(scheduleLag, lag / 1_000)
    if (fact.type === "ran") record(scheduleRuns.with({ status: fact.status }))
  }
}

export const makeScheduleKind = ({ perform, prepare, webhooks }: ScheduleKindOptions): ScheduleKind =>
  defineKind<Snapshot, ScheduleRequest, Command, Job, ScheduleWriteSet>({
    name: "schedule",
    nouns: { id: "schedule", parent: "agent" },
    blank: start(),
    standing: ({ context, value }) => ({
      status: value,
      runnableAt: value === "armed" || value === "starting" || value === "holding" ? momentOf(context) : null,
      since: context.firing === null ? null : noFacts,
      carry: JSON.stringify(context)
    }),
    load: ({ head }) => restore({ ...blank, ...JSON.parse(head.carry) }),
    prepare,
    decide: ({ parent, ref, snapshot }, command) => {
      const { facts, jobs, next } = decide(snapshot, command)
      const announces = webhooks.has(ref.workspace) ? announcedBy(ref, parent ?? "", facts) : undefined
      return {
        next,
        jobs,
        ...(facts.length === 0 ? {} : { written: { facts: facts.map(row), happened: facts, announces } }),
        answer: { kind: "done", body: "" }
      }
    },
    committed: (_, { context }, { announces, happened }) => {
      if (announces !== undefined && announces.length > 0) webhooks.due()
      count(context, happened)
    },
    jobs: {
      resume,
      run: ({ params: { runId }, type }) =>
        type === "unwatch" ? { stop: `watch ${runId}` } : { start: `${type} ${runId}`, repeatable: true },
      lostOutcome: ({ params: { runId } }) => ({ type: "refused", runId, status: "failed", reason: "unreachable" }),
      perform
    },
    moments: {
      nextDue: ({ snapshot: { context, value } }) =>
        value === "armed" || value === "holding" ? (context.next?.moment ?? null) : null,
      due: { type: "due" }
    },
    inspected: makeScheduleInspected(factOf),
    causeOf: ({ type }) => type,
    poison: { type: "poison" },
    // Only what transactions leave in the inbox comes from elsewhere.
    remote: { forwardable: () => undefined, decodeRequest }
  })
