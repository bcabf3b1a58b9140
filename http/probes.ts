/** `/healthz` and `/readyz`: for those who operate a node. They need no credential. */
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { json } from "./answers.ts"
import { Refused } from "./errors.ts"
import { toResponse } from "./refusing.ts"
import { Readiness } from "./Readiness.ts"

const alive = json({ status: "ok" })

const ready = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const readiness = yield* Readiness
    yield* router.add(
      "GET",
      "/readyz",
      Effect.map(readiness.check, (found) =>
        "reason" in found
          ? toResponse(
              new Refused({
                error: found.status === "draining" ? "node_draining" : "runtime_unavailable",
                message: found.reason,
                retryAfterSeconds: 1
              })
            )
          : json(found)
      )
    )
  })
)

export const probePaths = ["/healthz", "/readyz"]

export const layer = Layer.mergeAll(HttpRouter.add("GET", "/healthz", alive), ready)
