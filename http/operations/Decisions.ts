/**
 * Decides what is parked, and carries out what was approved.
 *
 * D1. A change is carried out in the transaction that resolves its operation: it has happened with its state, or not at
 *     all. What it refuses is withdrawn, and written as the operation's result.
 * D2. A read or a command has three steps: approved, done, completed. A command may come twice, so that any node takes
 *     up what another has left approved (chore.ts).
 * D3. Rights and versions are asked again at that time, as those of whoever asked.
 */
import { Context, Effect, Layer, Result } from "effect"
import { Database, type DatabaseUnavailable } from "../../src/database/Database.ts"
import type { Tx } from "../../src/database/handle.ts"
import { withdrawable } from "../../src/database/withdrawable.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { Lease } from "../../src/journal/Lease.ts"
import type { Operation, OperationResult, OperationState } from "../../src/operations/operation.ts"
import { type ResolvedState, unsuccessful } from "../../src/operations/outcomes.ts"
import { hasAsked, isOwnRequest } from "../../src/operations/requester.ts"
import { type HeldOperation, holdOperation, resolveOperation, type StoredOperation } from "../../src/operations/rows.ts"
import { makeAgentActions } from "../agents/actions.ts"
import type { Caller } from "../Caller.ts"
import { isRefused, Refused, toErrorResponse } from "../errors.ts"
import { makeFeedActions } from "../feeds/actions.ts"
import type { KeptAnswer } from "../Idempotency.ts"
import { makeIdentityActions } from "../identities/actions.ts"
import { makeScheduleActions } from "../schedules/actions.ts"
import { makeMemoryActions } from "../memory/actions.ts"
import { makeSubscriptionActions } from "../subscriptions/actions.ts"
import { makeThreadActions } from "../threads/actions.ts"
import type { AnyAction, Asking, ReadyAction } from "../actions/Action.ts"
import { Actions } from "../actions/Actions.ts"
import { later, makeRights } from "./rights.ts"

type Words =
  | Refused<"not_found">
  | Refused<"permission_denied">
  | Refused<"operation_resolved">
  | Refused<"operation_expired">
  | Refused<"runtime_unavailable">

export class Decisions extends Context.Service<
  Decisions,
  {
    readonly approve: (
      caller: Caller["Service"],
      id: string
    ) => Effect.Effect<StoredOperation, Words | DatabaseUnavailable>
    readonly deny: (
      caller: Caller["Service"],
      id: string,
      reason: string | undefined
    ) => Effect.Effect<StoredOperation, Words | DatabaseUnavailable>
    readonly cancel: (
      caller: Caller["Service"],
      id: string
    ) => Effect.Effect<StoredOperation, Words | DatabaseUnavailable>
    /** Goes on with what was approved and has not been completed. Undefined where nothing is left to do. */
    readonly resume: (workspace: string, id: string) => Effect.Effect<StoredOperation | undefined, DatabaseUnavailable>
  }
>()("troupe/http/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.suspend(() => make)
  )
}

const noOperation = new Refused({ error: "not_found", message: "no such operation" })
const own = new Refused({
  error: "permission_denied",
  code: "own_operation",
  message: "whoever asked for an operation does not decide it, nor does another key of the same identity"
})
const notAsked = new Refused({
  error: "permission_denied",
  message: "only who asked for an operation cancels it; with the scope approve it can be denied"
})
const expired = new Refused({ error: "operation_expired", message: "nobody decided the operation in time" })
const resolved = ({ state }: Operation) =>
  new Refused({ error: "operation_resolved", code: state, message: `the operation is ${state} already` })

const resultOf = ({ body, status }: KeptAnswer): OperationResult => ({
  status,
  body: body === "" ? null : JSON.parse(body)
})
const refusalResult = (refused: Refused): OperationResult => ({
  status: refused.status,
  body: toErrorResponse(refused)
})

/** What the work has decided; what was withdrawn is to be written as failed. */
type Decided = { readonly stored: StoredOperation; readonly fresh: boolean; readonly ready?: ReadyAction }

const make = Effect.gen(function* () {
  const { announce } = yield* Actions
  const database = yield* Database
  const lease = yield* Lease
  const rightsOf = yield* makeRights
  const withdrawing = withdrawable(database)
  const all = [
    ...Object.values(yield* makeAgentActions),
    ...Object.values(yield* makeFeedActions),
    ...Object.values(yield* makeIdentityActions),
    ...Object.values(yield* makeMemoryActions),
    ...Object.values(yield* makeScheduleActions),
    ...Object.values(yield* makeSubscriptionActions),
    ...Object.values(yield* makeThreadActions)
  ]
  const byName = new Map<string, AnyAction>(all.map((action) => [action.name, action]))

  const resolve = (
    tx: Tx,
    workspace: string,
    { operation }: StoredOperation,
    state: ResolvedState,
    by: Principal | undefined,
    result?: OperationResult
  ) =>
    resolveOperation(
      tx,
      workspace,
      operation.id,
      { state, by, ...(result === undefined ? {} : { result }) },
      lease.now()
    )

  /** The action of an operation, with the parameters and the principal of whoever asked. */
  const readyOf = (workspace: string, { operation, request, requester }: StoredOperation) => {
    const action = byName.get(operation.action)
    if (action === undefined || requester === undefined) return undefined
    const { credential, from, principal } = requester
    const { identity } = credential
    const asking: Asking = {
      workspace,
      principal,
      ...(identity === undefined ? {} : { identity }),
      ...(from === undefined ? {} : { from }),
      seed: operation.id
    }
    const ready = action.ready(asking, request)
    return ready && { ready, action }
  }

  /** Held and found fit for `outcomes`: decided so before, or still to be decided. */
  const open = async (
    tx: Tx,
    workspace: string,
    id: string,
    outcomes: ReadonlyArray<OperationState>,
    refuse: (stored: StoredOperation) => Refused<"permission_denied"> | undefined
  ): Promise<Result.Result<{ readonly stored: HeldOperation; readonly isOpen: boolean }, Words>> => {
    const stored = await holdOperation(tx, workspace, id)
    if (stored === undefined) return Result.fail(noOperation)
    const refused = refuse(stored)
    if (refused !== undefined) return Result.fail(refused)
    const { operation } = stored
    if (operation.state === "pending") return Result.succeed({ stored, isOpen: true })
    if (operation.state === "expired") return Result.fail(expired)
    if (!outcomes.includes(operation.state)) return Result.fail(resolved(operation))
    return Result.succeed({ stored, isOpen: false })
  }

  /** Tells of what has changed. */
  const announced = (workspace: string) => (decided: Effect.Effect<Decided, Words | DatabaseUnavailable>) =>
    Effect.tap(decided, ({ fresh, stored }) =>
      Effect.sync(() => {
        if (fresh) announce(workspace, stored.operation)
      })
    )

  const decide = (
    workspace: string,
    id: string,
    outcomes: ReadonlyArray<OperationState>,
    refuse: (stored: StoredOperation) => Refused<"permission_denied"> | undefined,
    work: (tx: Tx, stored: HeldOperation) => Promise<Result.Result<Decided, Words | Withdraw>>
  ) =>
    withdrawing<Decided, Words | Withdraw>("operations.decide", async (tx) => {
      const found = await open(tx, workspace, id, outcomes, refuse)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      const { isOpen, stored } = found.success
      return isOpen ? work(tx, stored) : Result.succeed({ stored, fresh: false })
    })

  /** D2: done, and completed. */
  const finish = (workspace: string, id: string, ready: Extract<ReadyAction, { readonly type: "steps" }>) =>
    Effect.gen(function* () {
      const done = yield* Effect.result(ready.done)
      if (Result.isFailure(done) && (!isRefused(done.failure) || done.failure.status >= 500)) {
        yield* Effect.logWarning("what was approved could not be carried out yet: it is tried again", done.failure)
        return undefined
      }
      const completed = yield* database.atomically("operations.complete", async (tx) => {
        const stored = await holdOperation(tx, workspace, id)
        if (stored?.operation.state !== "approved") return stored
        if (Result.isFailure(done))
          return isRefused(done.failure)
            ? resolve(tx, workspace, stored, "failed", undefined, refusalResult(done.failure))
            : stored
        return resolve(tx, workspace, stored, "completed", undefined, resultOf(await done.success(tx)))
      })
      yield* ready.afterwards
      if (completed !== undefined) announce(workspace, completed.operation)
      return completed
    })

  const approve = Effect.fnUntraced(function* (caller: Caller["Service"], id: string) {
    const { principal, workspace } = caller
    const refuse = ({ requester }: StoredOperation) =>
      requester !== undefined && isOwnRequest(requester, caller) ? own : undefined
    const outcomes: ReadonlyArray<OperationState> = ["approved", "completed", "failed"]
    const fail = (tx: Tx, stored: StoredOperation, why: Refused) =>
      resolve(tx, workspace, stored, "failed", principal, refusalResult(why))

    const carriedOut = decide(workspace, id, outcomes, refuse, async (tx, stored) => {
      const found = readyOf(workspace, stored)
      if (found === undefined) return Result.fail(later)
      const withdrawn = await rightsOf(workspace, stored, found.action)
      if (withdrawn === later) return Result.fail(later)
      if (withdrawn !== undefined) return Result.succeed({ stored: await fail(tx, stored, withdrawn), fresh: true })
      const { ready } = found
      if (ready.type !== "change")
        return Result.succeed({
          stored: await resolve(tx, workspace, stored, "approved", principal),
          fresh: true,
          ready
        })
      const answer = await ready.change(tx)
      if (isRefused(answer)) return Result.fail(new Withdraw(answer))
      const completed = await resolve(tx, workspace, stored, "completed", principal, resultOf(answer))
      return Result.succeed({ stored: completed, fresh: true, ready })
    })
    const decided = yield* carriedOut.pipe(
      // D1: what it has written is gone, and what it refused stays to be told.
      Effect.catchTag("Withdraw", ({ refused }) =>
        decide(workspace, id, outcomes, refuse, async (tx, stored) =>
          Result.succeed({ stored: await fail(tx, stored, refused), fresh: true })
        )
      ),
      Effect.catchTag("Withdraw", () => Effect.die("nothing was withdrawn")),
      announced(workspace)
    )
    const { ready, stored } = decided
    if (ready === undefined) return stored
    if (ready.type === "change") {
      ready.changed()
      return stored
    }
    return (yield* finish(workspace, id, ready)) ?? stored
  })

  const end = (
    caller: Caller["Service"],
    id: string,
    state: "denied" | "cancelled",
    refuse: (stored: StoredOperation) => Refused<"permission_denied"> | undefined,
    reason?: string
  ) =>
    decide(caller.workspace, id, [state], refuse, async (tx, stored) => {
      const result = unsuccessful(state, reason)
      return Result.succeed({
        stored: await resolve(tx, caller.workspace, stored, state, caller.principal, result),
        fresh: true
      })
    }).pipe(
      Effect.catchTag("Withdraw", () => Effect.die("nothing was withdrawn")),
      announced(caller.workspace),
      Effect.map(({ stored }) => stored)
    )

  return Decisions.of({
    approve,
    deny: (caller, id, reason) =>
      end(
        caller,
        id,
        "denied",
        ({ requester }) => (requester !== undefined && isOwnRequest(requester, caller) ? own : undefined),
        reason
      ),
    cancel: (caller, id) =>
      end(caller, id, "cancelled", ({ requester }) =>
        requester === undefined || hasAsked(requester, caller) ? undefined : notAsked
      ),
    resume: Effect.fnUntraced(function* (workspace: string, id: string) {
      const stored = yield* database.atomically("operations.resume", (tx) => holdOperation(tx, workspace, id))
      if (stored?.operation.state !== "approved") return undefined
      const found = readyOf(workspace, stored)
      if (found === undefined || found.ready.type === "change") return undefined
      return yield* finish(workspace, id, found.ready)
    })
  })
})

/** Carries what a change has refused out of its transaction. */
class Withdraw {
  readonly _tag = "Withdraw"
  readonly refused: Refused
  constructor(refused: Refused) {
    this.refused = refused
  }
}
