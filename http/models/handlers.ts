/** Models: the catalogue in pages. It is fixed for the life of the process, so memory is enough. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Models } from "../../src/models/Model.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"

export const ModelsHandlers = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const models = yield* Models

    const ordered = models.list
      .toSorted((a, b) => (a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1))
      .map(({ createdAt, ...model }) => ({ createdAt, model }))

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { after } = yield* cursors.open("models", query.cursor, {})
        const limit = pageSize("models", query.limit)
        // A cursor of a node with another catalogue still finds its place: it names what it ended with.
        const [at, id] = after ?? []
        const rest =
          typeof at === "string" && typeof id === "string"
            ? ordered.filter(({ createdAt, model }) => createdAt < at || (createdAt === at && model.id < id))
            : ordered
        const page = rest.slice(0, limit)
        const last = page.at(-1)
        return json({
          models: page.map(({ model }) => model),
          nextCursor:
            rest.length > limit && last !== undefined
              ? cursors.seal("models", {}, [last.createdAt, last.model.id])
              : undefined
        })
      })
    })
  })
)
