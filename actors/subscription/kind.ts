/** The subscription as a kind of actor: its whole state in the carry, its moments the ends of windows and pauses. */
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Command } from "../../machines/subscription/commands.ts"
import { blank, type Context } from "../../machines/subscription/context.ts"
import { decide, start } from "../../machines/subscription/decide.ts"
import { type Job, jobsOf } from "../../machines/subscription/draft.ts"
import { type Fact, isPublic } from "../../machines/subscription/facts.ts"
import { makeSubscriptionInspected } from "../../machines/subscription/inspected.ts"
import { restore } from "../../machines/subscription/fold.ts"
import type { Snapshot } from "../../machines/subscription/chart.ts"
import type { Spending } from "../../src/agents/Spending.ts"
import type { ActorRef, FactRow } from "../../src/journal/Journal.ts"
import { nextCron } from "../../src/schedules/cron.ts"
import { freshBody } from "../../src/seed.ts"
import { dollars } from "../../src/domain/usage.ts"
import { evaluations, record } from "../../src/telemetry/metrics.ts"
import type { ModelUse, UsageCounts } from "../../src/usage/UsageCounts.ts"
import { announcement } from "../../src/webhooks/event.ts"
import type { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { Declined, type Reply } from "../Actor.ts"
import { type ActorView, type Decision, defineKind, type Jobs, type Kind, type WriteSet } from "../Kind.ts"
import { decodeRequest, type SubscriptionRequest, type Used } from "./requests.ts"
import { settledIn } from "./settling.ts"

type PreparedRequest = SubscriptionRequest & { readonly at: number; readonly instant?: number }

interface SubscriptionWriteSet extends WriteSet {
  readonly happened: ReadonlyArray<Fact>
  readonly use: ModelUse | undefined
}

export interface SubscriptionKindOptions {
  readonly perform: Jobs<Snapshot, SubscriptionRequest, Job>["perform"]
  /** USD of an agent are in the journal. */
  readonly booked: Spending["Service"]["booked"]
  readonly used: UsageCounts["Service"]["add"]
  readonly webhooks: Pick<WebhookInterest["Service"], "due" | "has">
}

export type SubscriptionKind = Kind<Snapshot, SubscriptionRequest, PreparedRequest, Job, SubscriptionWriteSet>

export const row = (fact: Fact): FactRow => {
  const { at, type, ...event } = fact
  return {
    type,
    turn: null,
    n: 0,
    public: isPublic(fact),
    event: JSON.stringify(event),
    detail: null,
    once: null,
    at
  }
}

/** The journal holds what `row` wrote: the cast says so, and the tests of the fold hold it to that. */
export const factOf = ({ at, event, type }: Pick<FactRow, "at" | "event" | "type">): Fact =>
  ({ ...JSON.parse(event), type, at }) as Fact

/** What webhooks are told of: that the server has disabled it. */
const announcedBy = ({ id: subscriptionId, workspace }: ActorRef, agentId: string, facts: ReadonlyArray<Fact>) =>
  facts.flatMap((fact) =>
    fact.type === "disabled" && fact.reason !== "requested"
      ? [announcement(workspace, "subscription.disabled", { agentId, subscriptionId }, fact.at)]
      : []
  )

const gone = () => new Declined({ reason: "not_found", message: "There is no such subscription." })
const changed = () => new Declined({ reason: "precondition_failed", message: "The subscription has changed since." })

/** What the chart need not know of. */
const refusalOf = (context: Context, request: PreparedRequest): Declined | undefined => {
  if (request.type !== "configure" && request.type !== "delete") return undefined
  const isBirth = request.type === "configure" && request.version === 0
  if (context.deleted) return request.type === "delete" ? undefined : gone()
  if (context.settings === null && !isBirth) return gone()
  return request.version === undefined || request.version === context.version ? undefined : changed()
}

/** It was taken before, or says nothing new. */
const isNothing = ({ change, disabled, settings }: Context, request: PreparedRequest) =>
  request.type === "configure" &&
  (request.change === change ||
    (request.cursor === undefined &&
      request.enabled === (disabled === null) &&
      isDeepStrictEqual(request.settings, settings)))

const usedBy = (request: PreparedRequest): Used | undefined => ("used" in request ? request.used : undefined)

const commandOf = (request: PreparedRequest): Command => {
  if (request.type === "delete") return { type: "delete", at: request.at }
  return request
}

const done: Reply = { kind: "done", body: "" }

/** The next moment of its own; null where there is none. */
const momentOf = ({ context: { retryAt, until }, value }: Snapshot) =>
  value === "collecting" ? until : value === "backingOff" ? retryAt : null

const nameOf = (job: Job) => {
  switch (job.type) {
    case "enlist":
      return `enlist ${job.params.version}`
    case "evaluate":
      return `evaluate ${job.params.look}`
    case "submit":
      return `submit ${job.params.inputId} ${job.params.threadId} ${job.params.attempt}`
    case "abandon":
      return job.params.what
  }
}

export const makeSubscriptionKind = ({
  booked,
  perform,
  used,
  webhooks
}: SubscriptionKindOptions): SubscriptionKind => {
  const written = (
    { parent, ref, snapshot: { context } }: ActorView<Snapshot>,
    next: Snapshot,
    facts: ReadonlyArray<Fact>,
    request: PreparedRequest
  ): SubscriptionWriteSet => {
    const use = usedBy(request)
    const amount = dollars(use?.usage?.estimatedCost ?? 0)
    const agentId = parent ?? ""
    return {
      facts: facts.map(row),
      announces: webhooks.has(ref.workspace) ? announcedBy(ref, agentId, facts) : undefined,
      happened: facts,
      use: use?.usage && { workspace: ref.workspace, agentId, model: use.modelId, at: request.at, usage: use.usage },
      spent: amount === 0 ? undefined : { subject: agentId, amount },
      settles: settledIn(ref.id, context, next.context, use)
    }
  }

  return defineKind<Snapshot, SubscriptionRequest, PreparedRequest, Job, SubscriptionWriteSet>({
    name: "subscription",
    nouns: { id: "subscription", parent: "agent" },
    blank: start(),
    standing: (snapshot) => {
      const { context, value } = snapshot
      const isWorking = jobsOf(context).length > 0
      return {
        status: value,
        runnableAt: isWorking ? 0 : momentOf(snapshot),
        // Of a job that is under way; no fact is needed to find it again.
        since: isWorking ? context.pos + 1 : null,
        carry: JSON.stringify(context)
      }
    },
    load: ({ head }) => {
      const context: Partial<Context> = JSON.parse(head.carry)
      return restore({ ...blank, ...context })
    },
    prepare: ({ snapshot: { context } }, request, at) => {
      const cadence = request.type === "configure" ? request.settings.cadence : context.settings?.cadence
      const instant = cadence?.mode === "schedule" ? nextCron(cadence.expression, cadence.timezone, at) : undefined
      return Effect.succeed({ ...request, at, ...(instant === undefined ? {} : { instant }) })
    },
    decide: (being, request): Decision<Snapshot, Job, SubscriptionWriteSet> | Declined => {
      const { snapshot } = being
      const nothing = { next: snapshot, jobs: [], answer: done }
      if (isNothing(snapshot.context, request)) return nothing
      const refusal = refusalOf(snapshot.context, request)
      if (refusal !== undefined) return refusal
      const { facts, jobs, next } = decide(snapshot, commandOf(request))
      return facts.length === 0 ? nothing : { next, jobs, written: written(being, next, facts, request), answer: done }
    },
    committed: ({ ref }, _, { announces, happened, spent, use }) => {
      if (announces !== undefined && announces.length > 0) webhooks.due()
      for (const fact of happened) if (isPublic(fact)) record(evaluations.with({ outcome: fact.type }))
      if (use !== undefined) used(use)
      if (spent !== undefined) booked(ref.workspace, spent.subject, spent.amount)
    },
    jobs: {
      resume: ({ context }) => jobsOf(context),
      run: (job) => (job.type === "abandon" ? { stop: nameOf(job) } : { start: nameOf(job), repeatable: true }),
      lostOutcome: (): never => {
        throw new Error("each of its jobs may be repeated")
      },
      perform
    },
    moments: { nextDue: ({ snapshot }) => momentOf(snapshot), due: { type: "due" } },
    remote: {
      forwardable: ({ type }) =>
        type === "configure" || type === "delete" ? { id: freshBody(), storable: false } : undefined,
      decodeRequest
    },
    inspected: makeSubscriptionInspected(factOf),
    causeOf: ({ type }) => type,
    poison: { type: "poison" }
  })
}
