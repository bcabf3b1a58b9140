/** `Threads`: the thread kind in its registry, and the API's calls as requests to it. */
import { Effect, Layer, Random } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { Journal } from "../../src/journal/Journal.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Models } from "../../src/models/Model.ts"
import { flatMapNow, isDone, mapErrorNow, mapNow } from "../../src/now.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { Images } from "../../src/images/Images.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { Reviewers } from "../../src/hooks/Reviewers.ts"
import { Database } from "../../src/database/Database.ts"
import { type AgentView, Directory } from "../../src/agents/Directory.ts"
import { Budgets } from "../../src/agents/Budgets.ts"
import { Spending } from "../../src/agents/Spending.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { profileOf } from "../../src/threads/pinnedProfile.ts"
import { pricesOf } from "../../src/models/prices.ts"
import { quotaRefusals, record } from "../../src/telemetry/metrics.ts"
import { Declined, type Unreachable } from "../Actor.ts"
import { unreachable } from "../live.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { makeRegistry, type RegistryOptions } from "../Registry.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { makeBudgetReached } from "./announcing.ts"
import { makeAdmission } from "./admissions.ts"
import { makeAsking } from "./asking.ts"
import { makeCaps, makeIsCapped } from "./caps.ts"
import { TurnEnds } from "./memory/turnEnds.ts"
import { makeApproval } from "./tools/approval.ts"
import { type Births, makeExchange } from "./tools/exchange.ts"
import { makeFamilies } from "./tools/families/all.ts"
import { makeCompactable } from "./compactable.ts"
import { makeThreadKind } from "./kind.ts"
import { settingsOf } from "./settings.ts"
import { makeCreate } from "./creating.ts"
import { makeSending, threadRef } from "./sending.ts"
import { makePerform } from "./perform.ts"
import { type PromptLimits, Prompts } from "./memory/prompts.ts"
import type { ThreadRequest } from "./requests.ts"
import { makeReviewing } from "./tools/reviewer.ts"
import { type ThreadCaller, Threads } from "./Threads.ts"
import { makeTools } from "./tools/toolbox.ts"
import { Tails } from "./replies/tails.ts"

export interface ThreadOptions extends RegistryOptions {
  readonly prompts: PromptLimits
  /** Characters of kept events on this node. */
  readonly tailCharacters: number
}

type AgentOf = (workspace: string, agentId: string) => Effect.Effect<AgentView | undefined, Unreachable>

/** Whether a fresh input can be paid for; webhooks are told of what cannot. */
const makePayable = Effect.fnUntraced(function* (agentOf: AgentOf) {
  const journal = yield* Journal
  const spending = yield* Spending
  const payable = makeCaps({
    prices: pricesOf((yield* Models).list),
    agentOf,
    spentLately: (workspace, agentId, window) =>
      mapErrorNow(
        Effect.map(spending.of(workspace, agentId, window), ({ spent }) => spent),
        unreachable
      ),
    spentNow: (workspace, agentId, budget) => mapErrorNow(spending.against(workspace, agentId, budget), unreachable),
    attributesOf: (being) => mapErrorNow(journal.attributes(being.ref), unreachable)
  })
  const tellOfBudget = makeBudgetReached({
    database: yield* Database,
    now: (yield* Lease).now,
    webhooks: yield* WebhookInterest
  })
  return (...[being, plan]: Parameters<typeof payable>) => {
    const paid = payable(being, plan)
    return isDone(paid)
      ? paid
      : Effect.tapError(paid, ({ _tag, ...declined }) =>
          "reason" in declined ? tellOfBudget(being, declined.reason) : Effect.void
        )
  }
})

/** What turns may call, and the agents that are asked by tools and by hooks. */
const makeTurnTools = Effect.fnUntraced(function* (births: Births, turnEnds: TurnEnds) {
  const exchange = makeExchange({ budgets: yield* Budgets, turnEnds, reads: yield* ThreadReads, threads: births })
  const reviewers = yield* Reviewers
  reviewers.appoint(makeReviewing(exchange))
  return yield* makeTools(yield* makeFamilies({ approval: yield* makeApproval, exchange }))
})

/** A workspace has only so many threads. */
const makeRefuseBirth = (quotas: Pick<Quotas["Service"], "exceeded">) => (workspace: string) => {
  const exceeded = quotas.exceeded(workspace, "threads")
  if (exceeded === undefined) return undefined
  record(quotaRefusals.with({ resource: "threads" }))
  return Effect.fail(
    new Declined({
      reason: "quota_exceeded",
      code: "threads",
      message: `The workspace has ${exceeded.limit} threads, as many as it may.`
    })
  )
}

/** Null where none runs or waits. */
const turnOf = (live: Pick<Snapshot, "context"> | undefined) => live && (live.context.turn?.turnId ?? null)

export const layer = (options: ThreadOptions) =>
  Layer.effect(
    Threads,
    Effect.gen(function* () {
      const bus = yield* Bus
      const directory = yield* Directory
      const journal = yield* Journal
      const lease = yield* Lease
      const models = yield* Models
      const quotas = yield* Quotas
      const spending = yield* Spending
      const random = yield* Random.Random
      const toolsets = yield* Toolsets
      const turnEnds = new TurnEnds()

      const refuseBirth = makeRefuseBirth(quotas)

      const births: Births = {
        ensure: (ref, birth, request) =>
          Effect.suspend(
            () =>
              (registry.peek(ref.id) === undefined ? refuseBirth(ref.workspace) : undefined) ??
              registry.ensure(ref, birth, { request })
          ),
        tell: (ref, request) => Effect.suspend(() => registry.tell(ref, { request })),
        isHere: (ref) => registry.current(ref) !== undefined
      }
      const reads = yield* ThreadReads
      const tools = yield* makeTurnTools(births, turnEnds)
      const { admissionOf, selects } = yield* makeAdmission((workspace, ids) =>
        mapErrorNow(toolsets.current(workspace, ids), unreachable)
      )
      const prompts = new Prompts(options.prompts, journal.log)
      const tails = new Tails(options.tailCharacters)

      const agentOf = (workspace: string, agentId: string) =>
        mapErrorNow(directory.agent(workspace, agentId), unreachable)
      const spendOf = (workspace: string, agentId: string) =>
        flatMapNow(agentOf(workspace, agentId), (agent) =>
          mapErrorNow(spending.of(workspace, agentId, agent?.window ?? "24h"), unreachable)
        )

      const compactable = makeCompactable(prompts, (being) =>
        flatMapNow(agentOf(being.ref.workspace, being.parent ?? ""), (agent) =>
          agent === undefined
            ? Effect.succeed(undefined)
            : mapErrorNow(profileOf(directory, being.ref.workspace, agent, settingsOf(being)), unreachable)
        )
      )

      const attributesIn = (workspace: string, threadId: string) =>
        mapErrorNow(journal.attributes(threadRef(workspace, threadId)), unreachable)
      const perform = makePerform({
        budgets: yield* Budgets,
        bus,
        hooks: yield* Hooks,
        images: yield* Images,
        isCapped: makeIsCapped({ agentOf, attributesIn }),
        models,
        prompts,
        tools,
        random: () => random.nextDoubleUnsafe()
      })
      const kind = makeThreadKind({
        admissionOf,
        compactable,
        bus,
        turnEnds,
        journal,
        perform,
        prompts,
        selects,
        spendOf,
        isLineFull: (workspace) => options.bulkheads.isLineFull(workspace),
        payable: yield* makePayable(agentOf),
        booked: spending.booked,
        used: (yield* UsageCounts).add,
        tails,
        tools,
        webhooks: yield* WebhookInterest
      })
      const registry = yield* makeRegistry(kind, options)

      const ask = ({ key, workspace }: ThreadCaller, threadId: string, request: ThreadRequest) =>
        registry
          .tell(threadRef(workspace, threadId), { request, ...(key === undefined ? {} : { key }) })
          .pipe(
            Effect.catchTag("Refused", (refused) =>
              refused.reason === "thread_archived" ? stillThere(workspace, threadId, refused) : Effect.fail(refused)
            )
          )

      /** An archived thread may have been deleted since, which its owner is not told. */
      const stillThere = (workspace: string, threadId: string, archived: Declined) =>
        Effect.flatMap(Effect.mapError(reads.head(workspace, threadId), unreachable), (head) =>
          Effect.fail(head === undefined ? new Declined({ reason: "not_found", message: "no such thread" }) : archived)
        )

      /** Of an archived one the store tells, which knows whether it was deleted since. */
      const present = (workspace: string, threadId: string) => {
        const snapshot = registry.current(threadRef(workspace, threadId))
        return snapshot?.context.carry.archivedAt === undefined ? snapshot : undefined
      }

      const { sendOrPost, ...sending } = makeSending({ ask, bus, ensure: births.ensure, journal, lease, quotas })

      return Threads.of({
        ...sending,
        recent: (workspace, threadId, afterSeq, limit) =>
          mapNow(registry.settled(threadRef(workspace, threadId)), (snapshot) =>
            snapshot?.context.carry.archivedAt !== undefined || snapshot === undefined
              ? undefined
              : tails.since(threadId, afterSeq, snapshot.context.seq, limit)
          ),
        waitingFor: (workspace, threadId, owner) => registry.waitingFor(threadRef(workspace, threadId), owner),
        runningTurn: (workspace, threadId) => turnOf(present(workspace, threadId)),
        onTurnEnd: (turnId, tell) => turnEnds.await(turnId, tell),
        lastSeq: (workspace, threadId) => present(workspace, threadId)?.context.seq,
        create: makeCreate({
          agentOf,
          directory,
          models,
          newId: () => registry.freshId("thread"),
          refuseBirth,
          register: registry.create
        }),
        ...makeAsking({ ask, sendOrPost })
      })
    })
  )
