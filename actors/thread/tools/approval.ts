/**
 * A built-in tool that is an action of the API is under the same approval policy: where that parks it, the operation is
 * what the tool returns, and the turn goes on. A call that runs again after a crash finds its own, also when that was
 * decided meanwhile.
 */
import { Effect } from "effect"
import { Directory } from "../../../src/agents/Directory.ts"
import { Bus } from "../../../src/bus/Bus.ts"
import { Database, type DatabaseUnavailable } from "../../../src/database/Database.ts"
import { limits } from "../../../src/domain/limits.ts"
import type { Principal } from "../../../src/domain/principal.ts"
import { Lease } from "../../../src/journal/Lease.ts"
import type { OperationAction } from "../../../src/operations/operation.ts"
import { parkRequest } from "../../../src/operations/parking.ts"
import { Policies } from "../../../src/operations/Policies.ts"
import type { CallBy } from "../settings.ts"
import { begunBy } from "./derivedIds.ts"
import { toolError } from "./builtIn.ts"
import type { BuiltInOutcome } from "./toolkit.ts"

export interface ActionOfTool {
  readonly action: OperationAction
  /** Agent that it is about; the one that calls, where it is about none. */
  readonly agentId?: string
  /** As the endpoint's action has its parameters. */
  readonly request: unknown
  readonly toolCallId: string
}

/**
 * Undefined where nothing parks: the tool runs. `refused`: what it would be refused with at once, asked before it
 * parks.
 */
export type ToolApproval = (
  by: CallBy,
  actionOfTool: ActionOfTool,
  refused?: Effect.Effect<BuiltInOutcome | undefined, DatabaseUnavailable>
) => Effect.Effect<BuiltInOutcome | undefined, DatabaseUnavailable>

const full = toolError(`queue_full: ${limits.pendingOperations} requests of this workspace wait for approval already.`)

const nothing = Effect.succeed(undefined)

export const makeApproval = Effect.gen(function* () {
  const bus = yield* Bus
  const database = yield* Database
  const directory = yield* Directory
  const lease = yield* Lease
  const policies = yield* Policies

  const parkFor = Effect.fnUntraced(function* (by: CallBy, { action, agentId, request, toolCallId }: ActionOfTool) {
    const identity = by.identity ?? (yield* directory.agent(by.workspace, by.agentId))?.identity
    const own = identity === undefined ? {} : { identity }
    const principal: Principal = { type: "agent", id: by.agentId, ...own }
    const requester = {
      principal,
      credential: { type: "lease", agentId: by.agentId, ...own },
      ...(by.turnId === undefined ? {} : { from: { threadId: by.threadId, turnId: by.turnId, hops: by.hops } })
    } as const
    const { operation, written } = yield* database.atomically("operations.park", (tx) =>
      parkRequest(
        tx,
        by.workspace,
        { id: begunBy("operation", toolCallId), action, agentId: agentId ?? by.agentId, request, requester },
        lease.now()
      )
    )
    for (const { agentId = "", id, state } of written)
      bus.publish({
        workspace: by.workspace,
        agentId,
        threadId: "",
        type: "operation",
        operationId: id,
        action,
        state
      })
    return operation === undefined ? full : { output: { operation } }
  })

  const approval: ToolApproval = (by, actionOfTool, refused = nothing) =>
    Effect.flatMap(
      policies.parks(by.workspace, {
        action: actionOfTool.action,
        principal: "agent",
        agentId: actionOfTool.agentId ?? by.agentId
      }),
      (parks) =>
        parks
          ? Effect.flatMap(refused, (refusal) =>
              refusal === undefined ? parkFor(by, actionOfTool) : Effect.succeed(refusal)
            )
          : nothing
    )
  return approval
})
