/**
 * What a thread tells webhooks of (contract C44.2): its status, ends of turns, waits, and budgets that were reached.
 */
import { Effect } from "effect"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { type Fact, isPublic } from "../../machines/thread/facts.ts"
import { statusOf } from "../../machines/thread/decide.ts"
import { type Announcement, announcement, hourly } from "../../src/webhooks/event.ts"
import type { Database } from "../../src/database/Database.ts"
import { announce } from "../../src/webhooks/announcing.ts"
import type { WebhookInterest } from "../../src/webhooks/Interest.ts"
import type { ActorView } from "../Kind.ts"
import { payerOf } from "./settings.ts"

/** Once an hour, whoever comes upon it: of the agent's budget, or of the thread's maxCost. */
export const budgetReached = (being: ActorView<Snapshot>, code: string, at: number): Announcement | undefined => {
  const { id: threadId, workspace } = being.ref
  const agentId = payerOf(being)
  if (code !== "budget_exceeded" && code !== "thread_cost_exceeded") return undefined
  const data = code === "budget_exceeded" ? { agentId } : { agentId, threadId }
  const name = `${workspace}/${code}/${data.threadId ?? agentId}`
  return announcement(workspace, "budget.reached", data, at, hourly(name, at))
}

const ofFact = (being: ActorView<Snapshot>, fact: Fact, seq: number): ReadonlyArray<Announcement> => {
  const { id: threadId, workspace } = being.ref
  const agentId = being.parent ?? ""
  const about = { agentId, threadId, ...(fact.turnId === null ? {} : { turnId: fact.turnId }), seq }
  switch (fact.type) {
    case "turn_completed":
      return [announcement(workspace, "turn.completed", about, fact.at)]
    case "turn_failed": {
      const reached = budgetReached(being, fact.event.failureCode, fact.at)
      const failed = announcement(workspace, "turn.failed", about, fact.at)
      return reached === undefined ? [failed] : [failed, reached]
    }
    case "wait_created":
      return [announcement(workspace, "wait.created", { ...about, waitId: fact.event.waitId }, fact.at)]
    default:
      return []
  }
}

/** All that one command leads to. */
export const announcedBy = (
  being: ActorView<Snapshot>,
  next: Snapshot,
  facts: ReadonlyArray<Fact>
): ReadonlyArray<Announcement> => {
  const { parent, ref, snapshot: before } = being
  let { seq } = before.context
  const news = facts.flatMap((fact) => (isPublic(fact) ? ofFact(being, fact, ++seq) : []))
  const at = facts.at(-1)?.at
  const status = statusOf(next)
  if (at === undefined || statusOf(before) === status) return news
  const data = { agentId: parent ?? "", threadId: ref.id, seq, status }
  return [...news, announcement(ref.workspace, "thread.status", data, at)]
}

/** A message that was refused for want of money. What cannot be written is told with the next one. */
export const makeBudgetReached =
  ({
    database,
    now,
    webhooks
  }: {
    readonly database: Database["Service"]
    readonly now: () => number
    readonly webhooks: Pick<WebhookInterest["Service"], "due" | "has">
  }) =>
  (being: ActorView<Snapshot>, code: string): Effect.Effect<void> => {
    const { workspace } = being.ref
    const reached = webhooks.has(workspace) ? budgetReached(being, code, now()) : undefined
    if (reached === undefined) return Effect.void
    return database
      .run("webhooks.budget", (db) => announce(db, workspace, [reached]))
      .pipe(
        Effect.tap(() => Effect.sync(webhooks.due)),
        Effect.catch((error) => Effect.logWarning("nobody was told of a budget that was reached", error))
      )
  }
