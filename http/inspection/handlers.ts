/** Actors on their charts: contract to what their logs say. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Inspecting, type FoundActor } from "../../actors/inspecting.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller, holding } from "../Caller.ts"
import { versionOf } from "../charts/version.ts"
import { Cursors } from "../Cursors.ts"
import { Refused } from "../errors.ts"
import { pageSize } from "../pagination.ts"
import { shownStep } from "./shown.ts"

const noActor = () => new Refused({ error: "not_found", message: "no such actor" })
const beyond = (name: "pos" | "seq") =>
  new Refused({ error: "not_found", message: `${name}: the actor's log does not go that far` })
const refusal = (code: string, message: string) => new Refused({ error: "invalid_request", code, message })

interface StepsAsked {
  readonly afterPos?: number | undefined
  readonly cursor?: string | undefined
  readonly order?: "asc" | "desc" | undefined
}

const refuse = ({ afterPos = 0, cursor, order }: StepsAsked) => {
  if (afterPos > 0 && cursor !== undefined)
    return refusal("after_pos_with_cursor", "afterPos: not together with cursor")
  if (afterPos > 0 && order === "desc") return refusal("after_pos_with_desc", "afterPos: not together with order=desc")
  return undefined
}

export const ActorsHandlers = HttpApiBuilder.group(
  Api,
  "actors",
  Effect.fnUntraced(function* (handlers) {
    const inspecting = yield* Inspecting
    const cursors = yield* Cursors

    /** The actor, for whoever may read what it is of. */
    const find = Effect.fnUntraced(function* (actorId: string) {
      const { workspace } = yield* Caller
      const found = yield* inspecting.find(workspace, actorId)
      if (found === undefined) return yield* noActor()
      return { caller: yield* holding(found.head.kind === "identity" ? "admin" : "read"), found }
    })

    /** Where in the log is asked for; undefined: now. */
    const posAskedFor = Effect.fnUntraced(function* (
      workspace: string,
      found: FoundActor,
      { pos, seq }: { readonly pos?: number | undefined; readonly seq?: number | undefined }
    ) {
      const { head } = found
      if (pos !== undefined) return pos > head.pos ? yield* beyond("pos") : pos
      if (seq === undefined) return undefined
      if (seq === 0) return 0
      if (seq > head.seq) return yield* beyond("seq")
      return (yield* inspecting.positionOf(workspace, found, seq)) ?? (yield* beyond("seq"))
    })

    return handlers.handleAll({
      steps: Effect.fnUntraced(function* ({ params: { actorId }, query }) {
        const refused = refuse(query)
        if (refused !== undefined) return yield* refused
        const {
          caller: { workspace },
          found
        } = yield* find(actorId)
        const place = `steps ${actorId} ${workspace}`
        const { after, filter } = yield* cursors.open(place, query.cursor, { order: query.order }, { order: "asc" })
        const order = filter.order === "desc" ? "desc" : "asc"
        const [position] = after ?? []
        const from = typeof position === "number" ? position : undefined
        const limit = pageSize("actorSteps", query.limit)
        const steps = yield* inspecting.steps(workspace, found, {
          order,
          limit,
          ...(order === "asc" ? { after: from ?? query.afterPos ?? 0 } : from === undefined ? {} : { before: from })
        })
        const page = steps.slice(0, limit)
        const last = page.at(-1)
        return json({
          steps: page.map(shownStep),
          ...(last === undefined || steps.length <= limit
            ? {}
            : { nextCursor: cursors.seal(place, filter, [order === "asc" ? last.pos : last.fromPos]) })
        })
      }),

      chart: Effect.fnUntraced(function* ({ params: { actorId }, query }) {
        if (query.seq !== undefined && query.pos !== undefined)
          return yield* refusal("seq_with_pos", "seq: not together with pos")
        const { caller, found } = yield* find(actorId)
        const { inspected } = found
        const { workspace } = caller
        const place = yield* posAskedFor(workspace, found, query)
        const now = place === undefined ? ((yield* inspecting.now(workspace, found)) ?? (yield* noActor())) : undefined
        const { context, doing, state, step } = now ?? (yield* inspecting.at(workspace, found, place ?? 0))
        const { head } = now ?? found
        return json({
          actor: {
            id: head.id,
            kind: head.kind,
            status: head.status,
            pos: head.pos,
            lastSeq: head.seq,
            epoch: head.epoch,
            live: head.node !== undefined,
            ...(head.runnableAt === null ? {} : { runnableAt: toTimestamp(head.runnableAt) }),
            ...(head.node !== undefined && caller.scopes.has("admin") ? { node: head.node } : {})
          },
          chart: { kind: head.kind, version: versionOf(inspected.definition) },
          ...(step === undefined ? {} : { step: shownStep(step) }),
          state,
          doing: doing.map((each) => ({ ...each.doing, since: toTimestamp(each.at) })),
          context,
          ...(now === undefined ? {} : { possible: now.possible })
        })
      })
    })
  })
)
