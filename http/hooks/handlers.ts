/** Hooks at work: contract to facts, to one evaluation, and to the threads that wait for a decision. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type HookData, type HookInput, hookOf, matching } from "../../src/domain/hook.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { decided } from "../../src/waits/answer.ts"
import { Hooks, type Rehearsal } from "../../src/hooks/Hooks.ts"
import type { HookQuestion } from "../../src/hooks/question.ts"
import { Outbound } from "../../src/outbound/Outbound.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { type DecisionPosition, listHookDecisions } from "../../src/hooks/decisions.ts"
import { findWait } from "../../src/waits/reads.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { idempotent } from "../Idempotency.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { refuseUrl } from "../badInput.ts"
import { makeResolveWait } from "../waits/resolving.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const positionOf = (after: ReadonlyArray<string | number> | undefined): DecisionPosition | undefined => {
  const [at, thread, pos] = after ?? []
  return typeof at === "number" && typeof thread === "string" && typeof pos === "number"
    ? { at, thread, pos }
    : undefined
}

/** A sample is of no thread: its ids are made up. A reviewer is paid for by its own agent then. */
const questionOf = (workspace: string, principal: Principal, input: HookInput, data: HookData): HookQuestion => {
  const hook = hookOf(input, input.id ?? freshId("hook"))
  return {
    workspace,
    principal,
    turnPrincipal: principal,
    hook,
    data,
    index: 0,
    reviewer: false,
    agentId: hook.processor.type === "agent" ? hook.processor.agentId : freshId("agent"),
    threadId: freshId("thread"),
    turnId: freshId("turn"),
    deliveryId: freshId("delivery")
  }
}

/** A signature is no secret, but with it the delivery could be sent again by whoever reads this. */
const shown = ({ outcome, request, response }: Rehearsal) => {
  if (request === undefined) return { outcome }
  const { "webhook-signature": signature, ...headers } = request.headers
  return {
    outcome,
    request: {
      url: request.url,
      headers: { ...headers, ...(signature !== undefined && { "webhook-signature": "v1,…" }) },
      body: JSON.parse(request.body)
    },
    ...(response !== undefined && { response })
  }
}

export const HooksHandlers = HttpApiBuilder.group(
  Api,
  "hooks",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const database = yield* Database
    const hooks = yield* Hooks
    const outbound = yield* Outbound
    const resolve = yield* makeResolveWait
    const writes = yield* makeWrites

    const refuse = ({ processor }: HookInput) => {
      const problem = processor.type === "url" ? outbound.refuses(processor.url) : undefined
      return problem && refuseUrl("hook.processor.url", problem)
    }

    return handlers.handleAll({
      decisions: Effect.fnUntraced(function* ({ query: { cursor, limit, ...sent } }) {
        const { workspace } = yield* Caller
        const place = `hook decisions ${workspace}`
        const { after, filter } = yield* cursors.open(place, cursor, sent)
        const rows = pageSize("hookDecisions", limit)
        const { decisions, next } = yield* database.run("hooks.decisions", (db) =>
          listHookDecisions(db, workspace, filter, { after: positionOf(after), limit: rows })
        )
        return json({
          decisions,
          ...(next !== undefined && { nextCursor: cursors.seal(place, filter, [next.at, next.thread, next.pos]) })
        })
      }),

      test: Effect.fnUntraced(function* ({ payload: { data, hook } }) {
        const { principal, workspace } = yield* Caller
        const refused = refuse(hook)
        if (refused !== undefined) return yield* refused
        const question = questionOf(workspace, principal, hook, data)
        const matched = matching([{ ...question.hook, enabled: true }], data.point, data).length > 0
        return yield* writes.postAfter("hooks.test", hooks.rehearse(question), async (_, rehearsal) =>
          jsonAnswer({ matched, ...shown(rehearsal) })
        )
      }),

      resolveWait: Effect.fnUntraced(function* ({ params: { waitId }, payload }) {
        const caller = yield* Caller
        return yield* idempotent((key) =>
          resolve(caller, key, findWait(database, caller.workspace, waitId), decided(payload))
        )
      }),

      decide: Effect.fnUntraced(function* ({ params: { deliveryId }, payload }) {
        const caller = yield* Caller
        const wait = findWait(database, caller.workspace, sibling("wait", deliveryId))
        return yield* idempotent((key) => resolve(caller, key, wait, decided(payload)))
      })
    })
  })
)
