/** Every family of built-in tools, in the order in which models see them. */
import { Effect } from "effect"
import { makeAgentMayName } from "../../../../src/agents/agentModels.ts"
import { Bus } from "../../../../src/bus/Bus.ts"
import { Database } from "../../../../src/database/Database.ts"
import { Journal } from "../../../../src/journal/Journal.ts"
import { Lease } from "../../../../src/journal/Lease.ts"
import { shardOf } from "../../../../src/journal/shard.ts"
import { makeChanging } from "../../../../src/subscriptions/changing.ts"
import { ConditionJudge } from "../../../../src/subscriptions/ConditionJudge.ts"
import { makeThreadModel } from "../../../../src/threads/shownModel.ts"
import { ThreadReads } from "../../../../src/threads/ThreadReads.ts"
import type { ToolApproval } from "../approval.ts"
import type { Exchange } from "../exchange.ts"
import { agentsFamily } from "./agents.ts"
import { connectionsFamily } from "./connections.ts"
import { feedsFamily } from "./feeds.ts"
import { memoryFamily } from "./memory.ts"
import { schedulesFamily } from "./schedules.ts"
import { subscriptionsFamily } from "./subscriptions.ts"
import { threadFamily } from "./thread.ts"

export const makeFamilies = Effect.fnUntraced(function* ({
  approval,
  exchange
}: {
  readonly approval: ToolApproval
  readonly exchange: Exchange
}) {
  const bus = yield* Bus
  const database = yield* Database
  const journal = yield* Journal
  const { now } = yield* Lease
  return [
    threadFamily({ approval, reads: yield* ThreadReads, modelOf: yield* makeThreadModel, now }),
    agentsFamily(database, exchange, approval),
    connectionsFamily(database),
    memoryFamily({ approval, database, now }),
    feedsFamily({ approval, bus, conditions: yield* ConditionJudge, database, journal }),
    schedulesFamily({
      approval,
      database,
      mayName: yield* makeAgentMayName,
      now,
      wake: (id) => bus.wake(shardOf(id))
    }),
    subscriptionsFamily({ approval, changing: yield* makeChanging, database })
  ]
})
