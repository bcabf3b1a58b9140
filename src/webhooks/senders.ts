/**
 * Sends what is due to the endpoints of webhooks: fifty at once on a node, twenty of one workspace, four of one
 * endpoint.
 *
 * N1. A look follows whatever this node has announced, whatever has come to an end, and each second; what comes within
 *     a moment shares one.
 * N2. An attempt whose outcome cannot be written down is sent again: at least once, never less.
 * N3. A look takes some of an endpoint, and of a workspace, ahead. What has waited for long is left to a later look,
 *     before another node might take it for lost, or its webhook is not there any more; and so is what waits for one
 *     that has ended.
 */
import { Effect, FiberSet, Latch, Layer, Semaphore } from "effect"
import { SecretEnvelope } from "../crypto/envelope.ts"
import { Database } from "../database/Database.ts"
import { Lease } from "../journal/Lease.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { record, webhookAttempts } from "../telemetry/metrics.ts"
import { type DueDelivery, makeAttempt, type AttemptOutcome } from "./attempt.ts"
import { disableFailing, disableGone, makeTell, takeDue } from "./due.ts"
import { WebhookInterest } from "./Interest.ts"

const atOnce = 50
const eachWorkspace = 20
const each = 4
/** N3. */
const ahead = { ofEndpoint: 3 * each, ofWorkspace: 4 * eachWorkspace, inAll: 4 * atOnce }
const patienceMs = 5_000
/** N1. */
const moment = "20 millis"

/** What this node has taken of a workspace, or an endpoint, and how many of that it sends at once. */
interface Share {
  taken: number
  readonly free: Semaphore.Semaphore
}

interface Endpoint extends Share {
  isOver: boolean
}

/** What this node has taken, endpoint by endpoint and workspace by workspace. `onRoom`: there is room for more. */
const makeShares = (onRoom: () => void) => {
  const workspaces = new Map<string, Share>()
  const endpoints = new Map<string, Endpoint>()
  let total = 0

  const take = ({ webhookId, workspace }: DueDelivery) => {
    const endpoint = endpoints.get(webhookId) ?? { taken: 0, isOver: false, free: Semaphore.makeUnsafe(each) }
    const space = workspaces.get(workspace) ?? { taken: 0, free: Semaphore.makeUnsafe(eachWorkspace) }
    endpoints.set(webhookId, endpoint)
    workspaces.set(workspace, space)
    endpoint.taken++
    space.taken++
    total++
    return { endpoint, space }
  }
  const leave = ({ webhookId, workspace }: DueDelivery, { endpoint, space }: ReturnType<typeof take>) => {
    total--
    if (--endpoint.taken === 0) endpoints.delete(webhookId)
    if (--space.taken === 0) workspaces.delete(workspace)
    if (endpoint.taken <= each || space.taken <= eachWorkspace) onRoom()
  }
  return { endpoints, workspaces, take, leave, inAll: () => total }
}

export const layerSenders = Layer.effectDiscard(
  Effect.gen(function* () {
    const database = yield* Database
    const envelope = yield* SecretEnvelope
    const interest = yield* WebhookInterest
    const lease = yield* Lease
    const outbound = yield* Outbound
    const attempt = makeAttempt(outbound, envelope, lease.now)
    const tell = makeTell(database)
    const fibers = yield* FiberSet.make()
    const news = Latch.makeUnsafe()
    const free = yield* Semaphore.make(atOnce)
    const { endpoints, inAll, leave, take, workspaces } = makeShares(() => news.openUnsafe())

    const note = Effect.fnUntraced(function* (delivery: DueDelivery, endpoint: Endpoint, outcome: AttemptOutcome) {
      record(webhookAttempts.with({ outcome: outcome.state === "delivered" ? "delivered" : "failed" }))
      // At once: what was taken ahead would be sent while this is written.
      endpoint.isOver ||= outcome.gone === true
      if (outcome.gone === true) return yield* disableGone(database, { delivery, outcome })
      if (!(yield* tell({ delivery, outcome }))) return
      endpoint.isOver = true
      yield* disableFailing(database, delivery)
    })

    const send = (delivery: DueDelivery, taken: ReturnType<typeof take>, takenAt: number) => {
      const { endpoint, space } = taken
      return Effect.suspend(() =>
        endpoint.isOver || lease.now() - takenAt > patienceMs ? Effect.succeed(undefined) : attempt(delivery)
      ).pipe(
        free.withPermit,
        space.free.withPermit,
        endpoint.free.withPermit,
        Effect.flatMap((outcome) => (outcome === undefined ? Effect.void : note(delivery, endpoint, outcome))),
        Effect.catch((error) => Effect.logWarning("what came of a webhook's delivery could not be written", error)),
        Effect.ensuring(Effect.sync(() => leave(delivery, taken)))
      )
    }

    const look = Effect.gen(function* () {
      const more = ahead.inAll - inAll()
      if (!interest.any() || more <= 0) return
      const taken = yield* takeDue(database, { endpoints, workspaces }, { ...ahead, more })
      const at = lease.now()
      yield* Effect.forEach(taken, (delivery) => FiberSet.run(fibers, send(delivery, take(delivery), at)), {
        discard: true
      })
    }).pipe(Effect.catch((error) => Effect.logWarning("due webhooks could not be read", error)))

    yield* Effect.acquireRelease(
      Effect.sync(() => interest.onDue(() => news.openUnsafe())),
      (stop) => Effect.sync(stop)
    )
    const round = Effect.gen(function* () {
      news.closeUnsafe()
      yield* look
      yield* Effect.sleep(moment)
      yield* Effect.raceFirst(news.await, Effect.sleep("1 second"))
    })
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
