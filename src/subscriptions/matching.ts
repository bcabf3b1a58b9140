/**
 * The node that appends finds out which subscriptions the append wakes.
 *
 * M1. Judged before the feed's row is held, by what this node remembers of the feed's subscriptions; where the row's
 *     revision says that they are others, they are read and judged anew in the transaction.
 * M2. A subscription that matches gets one row of the inbox; the others cost no statement.
 * M3. Beyond 50 ms whatever is not judged counts as matching: the actor looks for itself. So does what is costly, where
 *     it is judged in the transaction.
 */
import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import { sql } from "kysely"
import type { Tx } from "../database/handle.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Principal } from "../domain/principal.ts"
import { type JudgedMessage, type MessageCondition, type ConditionSays, takenCondition } from "./condition.ts"
import type { ConditionJudge } from "./ConditionJudge.ts"

interface Subscriber {
  readonly id: string
  readonly agentId: string
  readonly includeSelf: boolean
  readonly condition: MessageCondition
}

interface Known {
  readonly rev: number
  readonly subscribers: ReadonlyArray<Subscriber>
}

/** Which of the messages match, by their places. */
interface Hit {
  readonly id: string
  readonly places: ReadonlyArray<number>
  readonly exact: boolean
}

export interface Judged {
  readonly rev: number
  readonly hits: ReadonlyArray<Hit>
}

const mostMs = 50
/** Feeds whose subscriptions are remembered. */
const heldFeeds = 10_000

const known = new LRUCache<string, Known>({ max: heldFeeds })

/** Messages of an agent's own, by tool or lease, are passed over unless it wants them. */
export const isOwnMessage = (principal: Principal, agentId: string) =>
  principal.type === "agent" && principal.id === agentId

/** What nobody has judged yet may match anywhere. */
const anywhere = (id: string, messages: ReadonlyArray<unknown>): Hit => ({
  id,
  places: messages.map((_, place) => place),
  exact: false
})

/** What a condition looks at of a message that is sent. */
type SentMessage = Pick<JudgedMessage, "text" | "data"> & Partial<Pick<JudgedMessage, "tags">>

const hitOf = (id: string, said: ReadonlyArray<ConditionSays>): ReadonlyArray<Hit> => {
  const places = said.flatMap(({ matched }, place) => (matched ? [place] : []))
  return places.length === 0 ? [] : [{ id, places, exact: true }]
}

/** Those that want messages of this principal. What only the feed knows is not known yet. */
const wanting = ({ subscribers }: Known, principal: Principal) =>
  subscribers.filter(({ agentId, includeSelf }) => includeSelf || !isOwnMessage(principal, agentId))

const judgedOf = (messages: ReadonlyArray<SentMessage>, principal: Principal): ReadonlyArray<JudgedMessage> =>
  messages.map(({ data, tags = [], text }) => ({ text, tags, data, principal, seq: 0, appendedAt: 0 }))

/** M3. What is cheap, within the time; `undefined` of what it was not enough for. */
const judgeCheap = (condition: MessageCondition, messages: ReadonlyArray<JudgedMessage>, until: number) => {
  const said: Array<ConditionSays> = []
  for (const message of messages) {
    if (performance.now() > until) return undefined
    said.push(condition.judge(message))
  }
  return said
}

const judgeHere = (
  subscribers: ReadonlyArray<Subscriber>,
  messages: ReadonlyArray<JudgedMessage>,
  until: number
): ReadonlyArray<Hit> =>
  subscribers.flatMap(({ condition, id }) => {
    if (condition.needsPlace || condition.isCostly) return [anywhere(id, messages)]
    const said = judgeCheap(condition, messages, until)
    return said === undefined ? [anywhere(id, messages)] : hitOf(id, said)
  })

/** M1: undefined where this node remembers nothing of the feed. */
export const judgeMessages = (
  conditions: ConditionJudge["Service"],
  workspace: string,
  feedId: string,
  sent: ReadonlyArray<SentMessage>,
  principal: Principal
): Effect.Effect<Judged | undefined> => {
  const found = known.get(workspace + feedId)
  if (found === undefined) return Effect.succeed(undefined)
  const { rev } = found
  const subscribers = wanting(found, principal)
  const messages = judgedOf(sent, principal)
  const isCostly = ({ condition }: Subscriber) => condition.isCostly && !condition.needsPlace
  const until = performance.now() + mostMs
  const cheap = judgeHere(
    subscribers.filter((one) => !isCostly(one)),
    messages,
    until
  )
  const costly = subscribers.filter(isCostly)
  if (costly.length === 0) return Effect.succeed({ rev, hits: cheap })
  const texts = costly.map(({ condition }) => condition)
  return Effect.map(conditions.judgeWithin(workspace, texts, messages, until - performance.now()), (said) => ({
    rev,
    hits: [
      ...cheap,
      ...costly.flatMap(({ id }, i) => {
        const found = said[i]
        return found === undefined ? [anywhere(id, messages)] : hitOf(id, found)
      })
    ]
  }))
}

const readSubscribers = async (tx: Tx, space: string, feed: string): Promise<ReadonlyArray<Subscriber>> => {
  const rows = await tx
    .selectFrom("subscribers")
    .select(["id", "agent", "condition", "include_self"])
    .where("workspace", "=", space)
    .where("feed", "=", feed)
    .where("listed", "=", true)
    .execute()
  return rows.map(({ agent, condition, id, include_self }) => ({
    id,
    agentId: fromUuid("agent", agent),
    includeSelf: include_self,
    condition: takenCondition(condition ?? undefined)
  }))
}

export interface WrittenMessages {
  readonly workspace: string
  readonly feedId: string
  /** `subscribers_rev` of the feed's row, which the transaction holds. */
  readonly rev: number
  readonly messages: ReadonlyArray<SentMessage>
  /** The seq of each message that was written, by its place. */
  readonly seqs: ReadonlyMap<number, number>
  readonly principal: Principal
}

/** M2. Answers with the ids of those that are told. */
export const tellSubscribers = async (
  tx: Tx,
  { feedId, messages, principal, rev, seqs, workspace }: WrittenMessages,
  before: Judged | undefined
): Promise<ReadonlyArray<string>> => {
  const space = toUuid(workspace)
  const feed = toUuid(feedId)
  let judged = before
  if (judged?.rev !== rev) {
    const read = { rev, subscribers: rev === 0 ? [] : await readSubscribers(tx, space, feed) }
    known.set(workspace + feedId, read)
    judged = {
      rev,
      hits: judgeHere(wanting(read, principal), judgedOf(messages, principal), performance.now() + mostMs)
    }
  }
  const notices = judged.hits.flatMap(({ exact, id, places }) => {
    const matching = places.flatMap((place) => seqs.get(place) ?? [])
    const from = matching[0]
    const to = matching.at(-1)
    if (from === undefined || to === undefined) return []
    const command = JSON.stringify({ type: "notice", from, to, count: matching.length, exact })
    return [{ id, row: `${id} ${to}`, command }]
  })
  if (notices.length === 0) return []
  await sql`insert into inbox (workspace, id, actor, kind, command)
    select ${space}::uuid, n.id, n.actor, 'subscription', n.command
    from unnest(${notices.map(({ row }) => row)}::text[], ${notices.map(({ id }) => id)}::uuid[],
      ${notices.map(({ command }) => command)}::text[]) n (id, actor, command)
    on conflict do nothing`.execute(tx)
  return notices.map(({ id }) => fromUuid("subscription", id))
}
