/** Threads: contract to commands, and to what the store says. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Threads } from "../../actors/thread/Threads.ts"
import { ThreadInput, type ThreadPatch } from "../../src/threads/threadInput.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { flatMapNow } from "../../src/now.ts"
import { threadOf, usageOf, type DetailRows } from "../../src/threads/detail.ts"
import { type Deletion, deleteThread } from "../../src/threads/deleting.ts"
import { edited } from "../../src/threads/edit.ts"
import { makeThreadModel } from "../../src/threads/shownModel.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { readAttributes, readStatus, threadRows } from "../../src/threads/view.ts"
import { refuseWith } from "../actorErrors.ts"
import { Actions } from "../actions/Actions.ts"
import { json, noContent, responseOf } from "../answers.ts"
import { Api } from "../Api.ts"
import { decodeJson } from "../Body.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { meets } from "../etag.ts"
import { Idempotency, idempotent } from "../Idempotency.ts"
import { lean } from "../lean.ts"
import { refuseForeign } from "../ownIdentity.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { refuseBody } from "../badInput.ts"
import { makeImageChecks } from "../images/refusing.ts"
import { threadCallerOf, ownIdentity } from "./threadCaller.ts"
import { makeWrites } from "../writes.ts"
import { makeThreadActions } from "./actions.ts"
import { makeDetail } from "./detail.ts"
import { refuseOrigin, refusePin, refuseUnreached } from "./refusals.ts"
import { answerOfInput, answerOfThread } from "./answers.ts"
import { makeTurns } from "./turns.ts"
import { archiveWords, cancelWords, compactWords, createWords, retryWords, type ThreadSummary } from "./api.ts"

const decodeInput = decodeJson(ThreadInput)

const summary = (rows: DetailRows, model: string | undefined): ThreadSummary => {
  return {
    thread: threadOf(rows),
    status: rows.head.status,
    lastSeq: rows.head.seq,
    updatedAt: toTimestamp(rows.head.updatedAt),
    ...(model === undefined ? {} : { model }),
    usage: usageOf(rows.carry),
    pendingWaits: rows.waits
  }
}

const refuseCreate = refuseWith(...createWords)
const refuseCancel = refuseWith(...cancelWords)
const refuseCompact = refuseWith(...compactWords)
const refuseArchive = refuseWith(...archiveWords)
const refuseRetry = refuseWith(...retryWords)

const refuseDeletion = (deletion: Deletion) => {
  switch (deletion) {
    case "deleted":
      return undefined
    case "not_found":
      return new Refused({ error: "not_found", message: "no such thread" })
    case "not_archived":
      return new Refused({ error: "turn_conflict", message: "only an archived thread is deleted: archive it first" })
  }
}

const statusWithState = new Refused({
  error: "invalid_request",
  code: "status_with_state",
  message: "status: not together with state"
})

const contended = () =>
  new Refused({
    error: "runtime_unavailable",
    message: "the thread is being edited by others at this moment; try again",
    retryAfterSeconds: 1
  })

/** How often an edit is tried against others of the same moment. */
const attempts = 5

export const ThreadsHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const threads = yield* Threads
    const reads = yield* ThreadReads
    const cursors = yield* Cursors
    const lease = yield* Lease
    const modelOf = yield* makeThreadModel
    const writes = yield* makeWrites
    const images = yield* makeImageChecks

    const { answer, find } = yield* makeDetail
    const actions = yield* makeThreadActions
    const { perform } = yield* Actions
    const turns = yield* makeTurns

    const update = Effect.fnUntraced(function* (
      caller: Caller["Service"],
      threadId: string,
      patch: ThreadPatch,
      ifMatch: string | undefined
    ) {
      const { principal, workspace } = caller
      const agrees = meets(ifMatch)
      return yield* Effect.gen(function* () {
        const rows = yield* find(workspace, threadId)
        if (!agrees(rows.version))
          return yield* new Refused({ error: "precondition_failed", message: "If-Match: the thread has changed since" })
        const before = readAttributes(rows.attributes)
        const after = yield* Effect.mapError(edited(before, patch, principal, Math.floor(lease.now())), refuseBody)
        if (after === before) return responseOf(yield* answer(workspace, rows))
        const attributes = JSON.stringify(after)
        const written = yield* reads.updateAttributes(workspace, threadId, () => attributes, rows.version)
        return responseOf(yield* answer(workspace, { ...rows, ...written }))
      }).pipe(
        Effect.retry({ times: attempts - 1, while: ({ _tag }) => _tag === "VersionConflict" }),
        Effect.catchTag("VersionConflict", () => Effect.fail(contended()))
      )
    })

    return lean(
      HttpApiBuilder.group(Api, "threads", (handlers) =>
        handlers
          .handleRaw("create", ({ request }) =>
            flatMapNow(decodeInput(request), (input) => {
              return idempotent((key, caller) => {
                const own = ownIdentity(caller)
                const { identity = own } = input
                const refused =
                  refuseOrigin(caller, input.message?.origin, "message.") ??
                  refusePin(caller, input.profileVersion) ??
                  refuseForeign(own, identity) ??
                  refuseUnreached(caller, input.agentId)
                if (refused !== undefined) return Effect.fail(refused)
                const thread = identity === undefined ? input : { ...input, identity }
                const created = threads
                  .create(threadCallerOf(caller, key), thread)
                  .pipe(Effect.map(answerOfThread), Effect.catch(refuseCreate))
                const checked =
                  input.message === undefined
                    ? undefined
                    : images.ofAgent(caller.workspace, input.agentId, input.message.content, "message.")
                return checked === undefined ? created : Effect.andThen(checked, created)
              })
            })
          )
          .handleAll({
            list: Effect.fnUntraced(function* ({ query }) {
              const { trigger, workspace } = yield* Caller
              const { agentId, cursor, identity, limit, state, status } = query
              const includeArchived = query.includeArchived === undefined ? undefined : String(query.includeArchived)
              const filters = { state, status, agentId, identity, includeArchived }
              const page = yield* cursors.open(`threads ${workspace}`, cursor, filters, { includeArchived: "false" })
              const [updatedAt, threadId] = page.after ?? []
              const { filter } = page
              if (filter.state !== undefined && filter.status !== undefined) return yield* statusWithState
              const found = yield* reads.list({
                workspace,
                waiting: filter.state === "waiting",
                includeArchived: filter.includeArchived === "true",
                limit: pageSize("threads", limit),
                ...(filter.agentId === undefined ? {} : { agentId: filter.agentId }),
                ...(trigger === undefined ? {} : { within: [...trigger.agentIds] }),
                ...(filter.identity === undefined ? {} : { identity: filter.identity }),
                ...(filter.status === undefined ? {} : { status: readStatus(filter.status) }),
                ...(typeof updatedAt === "number" && typeof threadId === "string"
                  ? { position: { updatedAt, threadId } }
                  : {})
              })
              const { position } = found
              // Most have nothing that waits, and the agents of the others are remembered.
              const threads = yield* Effect.forEach(
                found.threads,
                (stored) => {
                  const rows = threadRows(workspace, stored)
                  return Effect.map(modelOf({ ...rows, pending: stored.ahead }), (model) => summary(rows, model))
                },
                { concurrency: "unbounded" }
              )
              return json({
                threads,
                ...(position === undefined
                  ? {}
                  : {
                      nextCursor: cursors.seal(`threads ${workspace}`, filter, [position.updatedAt, position.threadId])
                    })
              })
            }),

            get: ({ params }) => perform(actions.read, params),

            turns: ({ params, query }) => turns(params.threadId, query),

            update: Effect.fnUntraced(function* ({ headers, params, payload }) {
              return yield* update(yield* Caller, params.threadId, payload, headers["if-match"])
            }),

            cancel: Effect.fnUntraced(function* ({ params, payload: { clearQueue = false, turnId } }) {
              const caller = yield* Caller
              return yield* idempotent((key) =>
                threads
                  .cancel(threadCallerOf(caller, key), params.threadId, {
                    clearQueue,
                    ...(turnId === undefined ? {} : { turnId })
                  })
                  .pipe(Effect.catch(refuseCancel), Effect.map(answerOfThread))
              )
            }),

            compact: Effect.fnUntraced(function* ({ params }) {
              const caller = yield* Caller
              return yield* idempotent((key) =>
                threads
                  .compact(threadCallerOf(caller, key), params.threadId)
                  .pipe(Effect.catch(refuseCompact), Effect.map(answerOfThread))
              )
            }),

            archive: Effect.fnUntraced(function* ({ params }) {
              const caller = yield* Caller
              return yield* idempotent((key) =>
                threads
                  .archive(threadCallerOf(caller, key), params.threadId)
                  .pipe(Effect.catch(refuseArchive), Effect.map(answerOfThread))
              )
            }),

            delete: Effect.fnUntraced(function* ({ params }) {
              const { workspace } = yield* Caller
              yield* writes.change("threads.delete", async (tx) =>
                refuseDeletion(await deleteThread(tx, workspace, params.threadId))
              )
              return noContent
            }),

            retry: Effect.fnUntraced(function* ({ params }) {
              const caller = yield* Caller
              return yield* idempotent((key) =>
                threads
                  .retry(threadCallerOf(caller, key), params.threadId)
                  .pipe(Effect.map(answerOfInput(params.threadId)), Effect.catch(refuseRetry))
              )
            })
          })
      ),
      Idempotency
    )
  })
)
