/** `Threads`: the thread kind in its registry, and the API's calls as requests to it. */
import { Effect, Layer, Random } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { Journal } from "../../src/journal/Journal.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { shardOf } from "../../src/journal/shard.ts"
import { Models } from "../../src/models/Model.ts"
import { mapErrorNow, flatMapNow } from "../../src/now.ts"
import { freshId } from "../../src/seed.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { Images } from "../../src/images/Images.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { Reviewers } from "../../src/hooks/Reviewers.ts"
import { Database } from "../../src/database/Database.ts"
import { makeAgentMayName } from "../../src/agents/agentModels.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { Budgets } from "../../src/agents/Budgets.ts"
import { Spending } from "../../src/agents/Spending.ts"
import { makeThreadModel } from "../../src/threads/shownModel.ts"
import { makeChanging } from "../../src/subscriptions/changing.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { profileOf } from "../../src/threads/pinnedProfile.ts"
import { pricesOf } from "../../src/models/prices.ts"
import { quotaRefusals, record } from "../../src/telemetry/metrics.ts"
import { Declined } from "../Actor.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { makeRegistry, type RegistryOptions } from "../Registry.ts"
import { makeBudgetReached } from "./announcing.ts"
import { makeAdmission } from "./admissions.ts"
import { makeCaps, makeIsCapped } from "./caps.ts"
import { TurnEnds } from "./memory/turnEnds.ts"
import { makeApproval } from "./tools/approval.ts"
import { type Births, makeExchange } from "./tools/exchange.ts"
import { agentsFamily } from "./tools/families/agents.ts"
import { connectionsFamily } from "./tools/families/connections.ts"
import { subscriptionsFamily } from "./tools/families/subscriptions.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { feedsFamily } from "./tools/families/feeds.ts"
import { memoryFamily } from "./tools/families/memory.ts"
import { schedulesFamily } from "./tools/families/schedules.ts"
import { threadFamily } from "./tools/families/thread.ts"
import { makeCompactable } from "./compactable.ts"
import { makeThreadKind } from "./kind.ts"
import { settingsOf } from "./settings.ts"
import { makeCreate } from "./creating.ts"
import { makeSending, threadRef, unreachable, withOrigin } from "./sending.ts"
import { makePerform } from "./perform.ts"
import { type PromptLimits, Prompts } from "./memory/prompts.ts"
import { explain } from "./replies/refusals.ts"
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
      const usageCounts = yield* UsageCounts
      const random = yield* Random.Random
      const hooks = yield* Hooks
      const toolsets = yield* Toolsets
      const endings = new TurnEnds()

      const refuseBirth = (workspace: string) => {
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

      const births: Births = {
        ensure: (ref, birth, request) =>
          Effect.suspend(
            () =>
              (registry.peek(ref.id) === undefined ? refuseBirth(ref.workspace) : undefined) ??
              registry.ensure(ref, birth, { request })
          ),
        tell: (ref, request) => Effect.suspend(() => registry.deliver(ref, { request })),
        isHere: (ref) => registry.current(ref) !== undefined
      }
      const reads = yield* ThreadReads
      const exchange = makeExchange({ endings, reads, threads: births })
      const reviewers = yield* Reviewers
      reviewers.appoint(makeReviewing(exchange))
      const database = yield* Database
      const approval = yield* makeApproval
      const tools = yield* makeTools([
        threadFamily({ approval, reads, modelOf: yield* makeThreadModel, now: lease.now }),
        agentsFamily(database, exchange, approval),
        connectionsFamily(database),
        memoryFamily({ approval, database, now: lease.now }),
        feedsFamily({ approval, bus, conditions: yield* ConditionJudge, database, journal }),
        schedulesFamily({
          approval,
          database,
          mayName: yield* makeAgentMayName,
          now: lease.now,
          wake: (id) => bus.wake(shardOf(id))
        }),
        subscriptionsFamily({ approval, changing: yield* makeChanging, database })
      ])
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

      const budgets = yield* Budgets
      const images = yield* Images
      const perform = makePerform({
        budgets,
        bus,
        hooks,
        images,
        isCapped: makeIsCapped({
          agentOf,
          attributesIn: (workspace, threadId) =>
            mapErrorNow(journal.attributes(threadRef(workspace, threadId)), unreachable)
        }),
        models,
        prompts,
        tools,
        random: () => random.nextDoubleUnsafe()
      })
      const payable = makeCaps({
        prices: pricesOf(models.list),
        agentOf,
        spentLately: (workspace, agentId, window) =>
          mapErrorNow(
            Effect.map(spending.of(workspace, agentId, window), ({ spent }) => spent),
            unreachable
          ),
        spentNow: (workspace, agentId, budget) =>
          mapErrorNow(spending.against(workspace, agentId, budget), unreachable),
        attributesOf: (being) => mapErrorNow(journal.attributes(being.ref), unreachable)
      })
      const webhooks = yield* WebhookInterest
      const tellOfBudget = makeBudgetReached({ database, now: lease.now, webhooks })
      const isLineFull = (workspace: string) => options.bulkheads.isLineFull(workspace)
      const kind = makeThreadKind({
        admissionOf,
        compactable,
        bus,
        endings,
        journal,
        perform,
        prompts,
        selects,
        spendOf,
        isLineFull,
        payable: (being, plan) =>
          Effect.tapError(payable(being, plan), ({ _tag, ...declined }) =>
            "reason" in declined ? tellOfBudget(being, declined.reason) : Effect.void
          ),
        booked: spending.booked,
        used: usageCounts.add,
        tails,
        tools,
        webhooks
      })
      const registry = yield* makeRegistry(kind, options)

      const ask = ({ key, workspace }: ThreadCaller, threadId: string, request: ThreadRequest) =>
        registry
          .deliver(threadRef(workspace, threadId), { request, ...(key === undefined ? {} : { key }) })
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

      const { sendOrPost, start, submitAs } = makeSending({ ask, bus, ensure: births.ensure, journal, lease, quotas })

      return Threads.of({
        submitAs,
        start,
        recent: (workspace, threadId, afterSeq, limit) =>
          flatMapNow(registry.settled(threadRef(workspace, threadId)), (snapshot) =>
            Effect.succeed(
              snapshot?.context.carry.archivedAt !== undefined || snapshot === undefined
                ? undefined
                : tails.since(threadId, afterSeq, snapshot.context.seq, limit)
            )
          ),
        waitingFor: (workspace, threadId, owner) => registry.waitingFor(threadRef(workspace, threadId), owner),
        runningTurn: (workspace, threadId) => {
          const live = present(workspace, threadId)
          return live === undefined ? undefined : (live.context.turn?.turnId ?? null)
        },
        lastSeq: (workspace, threadId) => present(workspace, threadId)?.context.seq,
        create: makeCreate({
          agentOf,
          directory,
          models,
          newId: () => registry.freshId("thread"),
          refuseBirth,
          register: registry.create
        }),
        submit: (asked, threadId, { content, expectedTurnId, mode, model, origin }) => {
          // The chart would say so as well; said here, it also holds for a submit that is posted.
          if (mode === "steer" && model !== undefined)
            return Effect.fail(explain({ error: "model_not_allowed_with_steer" }))
          const request = {
            type: "submit" as const,
            fresh: true as const,
            input: {
              inputId: freshId("input"),
              content,
              mode,
              principal: withOrigin(asked.principal, origin),
              ...(model === undefined ? {} : { model })
            },
            ...(expectedTurnId === undefined ? {} : { expectedTurnId }),
            ...(model === undefined || asked.anyModel === true ? {} : { profileModels: true as const })
          }
          return sendOrPost(asked, threadId, request)
        },
        retry: (asked, threadId) =>
          ask(asked, threadId, {
            type: "retry",
            fresh: true,
            inputId: freshId("input"),
            principal: asked.principal,
            ...(asked.anyModel === true ? {} : { profileModels: true })
          }),
        edit: (asked, threadId, inputId, content) =>
          ask(asked, threadId, {
            type: "edit",
            inputId,
            content,
            principal: asked.principal,
            ...(asked.anyModel === true ? {} : { profileModels: true })
          }),
        remove: (asked, threadId, inputId) => ask(asked, threadId, { type: "remove", inputId }),
        promote: (asked, threadId, inputId, to) =>
          ask(asked, threadId, { type: "promote", inputId, principal: asked.principal, ...to }),
        resolve: (asked, threadId, waitId, answer) =>
          ask(asked, threadId, {
            type: "answer",
            waitId,
            principal: asked.principal,
            answer,
            ...(asked.from === undefined ? {} : { from: asked.from })
          }),
        compact: (asked, threadId) => ask(asked, threadId, { type: "compact" }),
        archive: (asked, threadId) => ask(asked, threadId, { type: "archive" }),
        cancel: (asked, threadId, { clearQueue, turnId }) =>
          ask(asked, threadId, {
            type: "cancel",
            principal: asked.principal,
            clearQueue,
            ...(turnId === undefined ? {} : { turnId })
          })
      })
    })
  )
