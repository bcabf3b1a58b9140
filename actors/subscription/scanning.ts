/** Reads what a subscription has noticed, in pages, until it has found as much as it hands over. */
import { Effect } from "effect"
import type { Range } from "../../machines/subscription/context.ts"
import { Database } from "../../src/database/Database.ts"
import { limits } from "../../src/domain/limits.ts"
import type { PassedReason, SubscriptionSettings } from "../../src/domain/subscription.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { takenCondition } from "../../src/subscriptions/condition.ts"
import { isOwnMessage } from "../../src/subscriptions/matching.ts"
import { readNoticed, type NoticedMessage } from "../../src/subscriptions/noticed.ts"

const pageRows = 500
/** Pages without a match after which what was read is done with: the rest is looked at anew. */
const mostPages = 40

export interface Scanned {
  readonly feedName: string
  /** At most as many as were asked for. */
  readonly matching: ReadonlyArray<NoticedMessage>
  /** Everything that was noticed up to there was read. */
  readonly to: number
  /** Why messages that may match were passed over. */
  readonly passed: PassedReason | undefined
}

interface Scan {
  readonly workspace: string
  readonly agentId: string
  readonly feedId: string
  readonly ranges: ReadonlyArray<Range>
  readonly settings: SubscriptionSettings
  readonly most: number
}

const behind = (ranges: ReadonlyArray<Range>, seq: number) =>
  ranges.flatMap(({ from, to }) => (to <= seq ? [] : [{ from: Math.max(from, seq + 1), to }]))

export const makeScan = Effect.gen(function* () {
  const conditions = yield* ConditionJudge
  const database = yield* Database

  return Effect.fnUntraced(function* ({ agentId, feedId, most, ranges, settings, workspace }: Scan) {
    const condition = takenCondition(settings.condition)
    const matching: Array<NoticedMessage> = []
    const end = ranges.at(-1)?.to ?? 0
    let passed: PassedReason | undefined
    let feedName = ""
    let to = (ranges[0]?.from ?? 1) - 1
    for (let pages = 0; to < end && (matching.length > 0 || pages < mostPages); pages++) {
      const left = behind(ranges, to)
      const page = yield* database.run("subscriptions.noticed", (db) =>
        readNoticed(db, workspace, feedId, left, pageRows)
      )
      if (page === undefined) break
      feedName = page.feed.name
      if (page.feed.firstSeq > (left[0]?.from ?? 0)) passed ??= "messages_trimmed"
      const wanted = page.messages.filter(({ principal }) => settings.includeSelf || !isOwnMessage(principal, agentId))
      const said = yield* conditions.judge(workspace, condition, wanted)
      for (const [i, message] of wanted.entries()) {
        to = message.seq
        if (said[i]?.matched !== true) continue
        if (message.hops > limits.feedHops) passed = "hop_limit"
        else matching.push(message)
        if (matching.length >= most) return { feedName, matching, to, passed } satisfies Scanned
      }
      to = page.messages.length < pageRows ? end : (page.messages.at(-1)?.seq ?? end)
    }
    return { feedName, matching, to, passed } satisfies Scanned
  })
})
