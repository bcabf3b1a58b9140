/** A look at what was noticed: what matches by the condition as it is now, and whether that is worth a turn. */
import { Effect } from "effect"
import type { Found } from "../../machines/subscription/commands.ts"
import type { Batch } from "../../machines/subscription/context.ts"
import type { Snapshot } from "../../machines/subscription/chart.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { mostOf } from "../../src/domain/subscription.ts"
import { handoverOf } from "../../src/subscriptions/handover.ts"
import type { ActorView, Start } from "../Kind.ts"
import { threadIdOf, inputIdOf } from "./ids.ts"
import type { Outcome } from "./requests.ts"
import { makeScan, type Scanned } from "./scanning.ts"
import { makeScreen } from "./screening.ts"
import { feedOf, makeIdentityCheck } from "./standing.ts"

const nothing = ({ passed, to }: Scanned): Found => ({
  is: "nothing",
  to,
  ...(passed === undefined ? {} : { reason: passed })
})

export const makeEvaluate = Effect.gen(function* () {
  const directory = yield* Directory
  const scan = yield* makeScan
  const screen = yield* makeScreen
  const isDisabled = yield* makeIdentityCheck

  const batchOf = (
    { ref, snapshot: { context } }: ActorView<Snapshot>,
    { feedName, matching, to }: Scanned,
    feedId: string
  ): Batch => {
    const { generation, settings, threadId } = context
    const from = matching[0]?.seq ?? to
    const about = { id: ref.id, generation, from, to }
    const target = settings?.target ?? { mode: "spawn" }
    return {
      from,
      to,
      count: matching.length,
      hops: matching.reduce((most, { hops }) => Math.max(most, hops), 0),
      text: handoverOf({ intent: settings?.intent, feed: { id: feedId, name: feedName }, messages: matching }),
      inputId: inputIdOf(about),
      threadId:
        target.mode === "thread"
          ? target.threadId
          : target.mode === "reuse" && threadId !== null
            ? threadId
            : threadIdOf(about)
    }
  }

  return Effect.fnUntraced(function* (being: ActorView<Snapshot>, number: number, start: Start) {
    const { parent, ref, snapshot } = being
    const { look, noticed, settings } = snapshot.context
    if (settings === null || look?.number !== number) return undefined
    const agentId = parent ?? ""
    const evaluated = (found: Found): Outcome => ({ type: "evaluated", look: number, found })
    const agent = yield* directory.agent(ref.workspace, agentId)
    if (agent === undefined || agent.archived) {
      const failure = {
        code: "agent_archived",
        text: "The agent is archived.",
        refused: true,
        budget: false,
        disables: "agent_archived" as const
      }
      return { type: "unevaluated", look: number, failure } satisfies Outcome
    }
    const feedId = feedOf(being)
    const most = mostOf(settings)
    const scanned = yield* scan({ workspace: ref.workspace, agentId, feedId, ranges: noticed, settings, most })
    const [first] = scanned.matching
    if (first === undefined) return evaluated(nothing(scanned))
    const count = scanned.matching.length
    if (!look.closes && count < most) return evaluated({ is: "few", from: first.seq, to: scanned.to, count })
    const batch = batchOf(being, scanned, feedId)
    const over = { is: "dismissed" as const, from: batch.from, to: batch.to, count }
    if (yield* isDisabled(being, settings)) return evaluated({ ...over, reason: "identity_disabled" })
    const found: Found = { is: "batch", batch, seqs: scanned.matching.map(({ seq }) => seq) }
    if (settings.screen === undefined) return evaluated(found)
    const line = start.enter(being.head.updatedAt, false)
    if (line !== undefined) yield* line
    const { says, used } = yield* screen(ref, number, agent, settings.screen, batch.text, start)
    const cost = used === undefined ? {} : { used }
    if (says === "yes") return { ...evaluated(found), ...cost }
    if (says === "no") return { ...evaluated(over), ...cost }
    return { type: "unevaluated", look: number, failure: says, ...cost } satisfies Outcome
  })
})
