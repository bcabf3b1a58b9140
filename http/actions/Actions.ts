/**
 * The one way of whatever may park: asks the policy, then carries the action out or parks it.
 *
 * A1. A request that would be refused is refused at once: a change is tried in a transaction that is withdrawn, a read
 *     is read, a command says what it refuses. Nothing hopeless parks.
 * A2. A request that runs at once is written with its kept answer, as any other POST is (http/writes.ts).
 */
import { Context, Effect, Layer, Result } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Bus } from "../../src/bus/Bus.ts"
import { Database } from "../../src/database/Database.ts"
import type { Tx } from "../../src/database/handle.ts"
import { withdrawable } from "../../src/database/withdrawable.ts"
import { limits } from "../../src/domain/limits.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { flatMapNow } from "../../src/now.ts"
import type { Operation, OperationAction } from "../../src/operations/operation.ts"
import { parkRequest, type ParkedRequest } from "../../src/operations/parking.ts"
import { Policies } from "../../src/operations/Policies.ts"
import type { Requester } from "../../src/operations/requester.ts"
import { createCompleted } from "../../src/operations/rows.ts"
import { responseOf } from "../answers.ts"
import { Caller } from "../Caller.ts"
import { isRefused, Refused } from "../errors.ts"
import { header } from "../headers.ts"
import type { Idempotency, Key, KeptAnswer } from "../Idempotency.ts"
import { operationHeaders } from "../location.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"
import type { Asking, Unavailable } from "./Action.ts"
import type { DefinedAction } from "./defineAction.ts"

/** What any action may come to, beside its own words. */
type Always = "invalid_request" | "idempotency_key_reused" | "idempotency_in_progress"
type Answering<R> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  R | Refused<Always> | Refused<"queue_full"> | Unavailable,
  Needs
>
type Needs = Caller | Idempotency | HttpServerRequest.HttpServerRequest

export class Actions extends Context.Service<
  Actions,
  {
    readonly perform: <Params, R extends Refused>(
      action: DefinedAction<Params, R>,
      params: Params,
      /** It parks whatever the policy says. */
      also?: { readonly parks: boolean }
    ) => Answering<R>
    /** Tells whoever watches the workspace, or the agent that it is about. */
    readonly announce: (workspace: string, operation: Operation) => void
  }
>()("troupe/http/Actions") {
  static readonly layer = Layer.effect(
    Actions,
    Effect.suspend(() => make)
  )
}

const full = new Refused({
  error: "queue_full",
  message: `${limits.pendingOperations} requests of this workspace wait for approval, as many as may`,
  retryAfterSeconds: 60
})

const nobody = Effect.succeed(undefined)

const isAnswer = <R extends Refused>(answer: KeptAnswer | R): answer is KeptAnswer => !isRefused(answer)

/** In which turn a lease asks. */
const turnOf = ({ lease }: Caller["Service"]) =>
  lease === undefined ? {} : { from: { threadId: lease.threadId, turnId: lease.turnId, hops: lease.hops } }

const askingOf = (caller: Caller["Service"]): Asking => ({
  workspace: caller.workspace,
  principal: caller.principal,
  ...(caller.identity === undefined ? {} : { identity: caller.identity }),
  ...turnOf(caller)
})

const requesterOf = (caller: Caller["Service"]): Requester => {
  const { firstKeyId, identity, keyId, lease, principal } = caller
  const own = identity === undefined ? {} : { identity }
  const place = firstKeyId === undefined ? {} : { firstKeyId }
  return {
    principal,
    credential:
      lease === undefined
        ? { type: "key", keyId, ...place, ...own }
        : { type: "lease", agentId: lease.agentId, ...own },
    ...turnOf(caller)
  }
}

const make = Effect.gen(function* () {
  const bus = yield* Bus
  const database = yield* Database
  const lease = yield* Lease
  const policies = yield* Policies
  const writes = yield* makeWrites
  const withdrawing = withdrawable(database)

  const announce = (workspace: string, { action, agentId = "", id, state }: Operation) =>
    bus.publish({ workspace, agentId, threadId: "", type: "operation", operationId: id, action, state })

  /** A1. */
  const check = <Params, R extends Refused>(
    { name, way }: DefinedAction<Params, R>,
    asking: Asking,
    params: Params
  ): Effect.Effect<void, R | Unavailable> => {
    switch (way.type) {
      case "change":
        return withdrawing<void, R | "tried">(`${name} (tried)`, async (tx) => {
          const answer = await way.change(tx, asking, params)
          return Result.fail(isAnswer(answer) ? "tried" : answer)
        }).pipe(Effect.catch((failure) => (failure === "tried" ? Effect.void : Effect.fail(failure))))
      case "read":
        return Effect.asVoid(way.read(asking, params))
      case "command": {
        const refused = way.refuse(asking, params)
        if (refused !== undefined) return Effect.fail(refused)
        return way.check === undefined ? Effect.void : Effect.asVoid(way.check(asking, params))
      }
    }
  }

  const parked = (operation: Operation) => jsonAnswer({ operation }, 202, operationHeaders(operation.id))

  /** The operation that stands for what has run at once. */
  const completed = async (
    tx: Parameters<typeof createCompleted>[0],
    { name }: { readonly name: OperationAction },
    { principal, workspace }: Asking,
    agentId: string | undefined,
    { body, status }: KeptAnswer
  ) => {
    const result = { status, body: body === "" ? null : JSON.parse(body) }
    const operation = await createCompleted(
      tx,
      workspace,
      { action: name, agentId, by: principal, result },
      lease.now()
    )
    return jsonAnswer({ operation })
  }

  const runNow = <Params, R extends Refused>(
    { name, way }: DefinedAction<Params, R>,
    asking: Asking,
    params: Params,
    agentId: string | undefined,
    /** Its answer is kept for an Idempotency-Key. */
    isKept: boolean
  ): Answering<R> => {
    switch (way.type) {
      case "read":
        return Effect.map(way.read(asking, params), responseOf)
      case "change": {
        const changed = Effect.sync(() => way.changed?.(asking, params))
        const work = async (tx: Parameters<typeof way.change>[0]): Promise<KeptAnswer | R> => {
          const answer = await way.change(tx, asking, params)
          return way.wraps === true && isAnswer(answer) ? completed(tx, { name }, asking, agentId, answer) : answer
        }
        const together = withdrawing<KeptAnswer, R>(name, async (tx) => {
          const answer = await work(tx)
          return isAnswer(answer) ? Result.succeed(answer) : Result.fail(answer)
        })
        const atOnce =
          way.alone === undefined
            ? together
            : Effect.flatMap(way.alone(asking, params), (answer) =>
                answer === undefined ? together : Effect.succeed(answer)
              )
        return isKept
          ? Effect.tap(writes.post(name, work), changed)
          : Effect.map(Effect.tap(atOnce, changed), responseOf)
      }
      case "command": {
        const refused = way.refuse(asking, params)
        if (refused !== undefined) return Effect.fail(refused)
        const answered = async (tx: Tx, tell: (tx: Tx) => Promise<KeptAnswer>) =>
          way.plain === true ? tell(tx) : completed(tx, { name }, asking, agentId, await tell(tx))
        const command = (key?: Key) => way.command(key === undefined ? asking : { ...asking, seed: key.scope }, params)
        const done: Answering<R> = isKept
          ? writes.postKeyed(name, command, answered)
          : Effect.map(
              Effect.flatMap(command(), (tell) => writes.change(name, (tx) => answered(tx, tell))),
              responseOf
            )
        return Effect.tap(done, way.afterwards)
      }
    }
  }

  const parkNow = <Params, R extends Refused>(
    action: DefinedAction<Params, R>,
    caller: Caller["Service"],
    params: Params,
    agentId: string | undefined,
    isPost: boolean
  ): Answering<R> => {
    const request: ParkedRequest = { action: action.name, agentId, request: params, requester: requesterOf(caller) }
    let changed: ReadonlyArray<Operation> = []
    const parking = async (tx: Parameters<typeof parkRequest>[0]) => {
      const { operation, written } = await parkRequest(tx, caller.workspace, request, lease.now())
      if (operation === undefined) return full
      changed = written
      return parked(operation)
    }
    const name = `${action.name} (parked)`
    const checked = check(action, askingOf(caller), params)
    const answered: Answering<R> = isPost
      ? writes.postAfter(name, checked, parking)
      : Effect.map(Effect.andThen(checked, writes.change(name, parking)), responseOf)
    return Effect.tap(answered, () =>
      Effect.sync(() => {
        for (const operation of changed) announce(caller.workspace, operation)
      })
    )
  }

  return Actions.of({
    announce,
    perform: (action, params, also) =>
      Effect.contextWith((context: Context.Context<Needs>) => {
        const caller = Context.get(context, Caller)
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const isPost = request.method === "POST"
        const isKept = isPost && header(request, "idempotency-key") !== undefined
        const { principal, workspace } = caller
        return flatMapNow(action.agentOf?.(workspace, params) ?? nobody, (about) => {
          const agentId = about ?? (principal.type === "agent" ? principal.id : undefined)
          const ruled = { action: action.name, principal: principal.type, agentId }
          return flatMapNow(policies.parks(workspace, ruled), (parks) =>
            parks || also?.parks === true
              ? parkNow(action, caller, params, agentId, isPost)
              : runNow(action, askingOf(caller), params, agentId, isKept)
          )
        })
      })
  })
})
