/**
 * Performs a subscription's jobs: tells the feed, looks, hands over. Each outcome comes back as a request.
 *
 * F1. A database that does not answer is no outcome: the job waits and tries again.
 */
import { Effect, Schedule } from "effect"
import type { Job } from "../../machines/subscription/draft.ts"
import type { Snapshot } from "../../machines/subscription/chart.ts"
import { Database, type DatabaseUnavailable } from "../../src/database/Database.ts"
import { enlist } from "../../src/subscriptions/enlisting.ts"
import type { ActorView, Start } from "../Kind.ts"
import { makeEvaluate } from "./evaluating.ts"
import type { Outcome } from "./requests.ts"
import { feedOf } from "./standing.ts"
import { makeSubmit } from "./submitting.ts"

/** F1. */
const everySecond = Schedule.spaced("1 second")

export const makePerform = Effect.gen(function* () {
  const database = yield* Database
  const evaluate = yield* makeEvaluate
  const submit = yield* makeSubmit

  const tellFeed = Effect.fnUntraced(function* (being: ActorView<Snapshot>, version: number) {
    const { deleted, disabled, listing, settings } = being.snapshot.context
    const { id, workspace } = being.ref
    const as =
      deleted || settings === null
        ? undefined
        : {
            listed: disabled === null && listing?.pause === undefined,
            condition: settings.condition,
            includeSelf: settings.includeSelf
          }
    const enlisted = yield* database.atomically("subscriptions.enlist", (tx) =>
      enlist(tx, workspace, { id, version, agentId: being.parent ?? "", feedId: feedOf(being), as })
    )
    return {
      type: "listed",
      version,
      lastSeq: enlisted?.lastSeq ?? 0,
      ...(enlisted?.from === undefined ? {} : { from: enlisted.from }),
      archived: enlisted?.archived ?? true
    } satisfies Outcome
  })

  const performed = (
    being: ActorView<Snapshot>,
    job: Job,
    start: Start
  ): Effect.Effect<Outcome | undefined, DatabaseUnavailable> => {
    switch (job.type) {
      case "enlist":
        return tellFeed(being, job.params.version)
      case "evaluate":
        return evaluate(being, job.params.look, start)
      case "submit":
        return submit(being, job.params.inputId)
      case "abandon":
        return Effect.succeed(undefined)
    }
  }

  return (being: ActorView<Snapshot>, job: Job, start: Start): Effect.Effect<Outcome | undefined> =>
    performed(being, job, start).pipe(
      Effect.tapError((failure) => Effect.logWarning("a job of a subscription is tried again", failure)),
      Effect.retry(everySecond),
      Effect.orDie
    )
})
