/** What readers see of actors that live on this node. */
import { Effect } from "effect"
import type { ActorRef } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import type { Residents } from "./residents.ts"

/** How long a reader waits for what is being written. */
const patienceMs = 50

export const makeReaders = <Snapshot, Request>(
  residents: Residents<Snapshot, Request>,
  lease: Pick<Lease["Service"], "fenced">
) => {
  /**
   * The snapshot of an actor that lives here, as of its last commit; undefined also while this node might have lost it.
   */
  const current = (ref: ActorRef): Snapshot | undefined => {
    const actor = residents.get(ref.id)
    return actor === undefined || actor.unborn || actor.ref.workspace !== ref.workspace || lease.fenced()
      ? undefined
      : actor.snapshot
  }

  /**
   * The same, after what is being written now: a reader at the log's end need not come twice. Waits a moment at most;
   * by then it may be written without this node's knowing, and there is no answer from memory.
   */
  const settled = (ref: ActorRef): Effect.Effect<Snapshot | undefined> => {
    const actor = residents.get(ref.id)
    if (actor === undefined || !actor.busy || actor.ref.workspace !== ref.workspace) return Effect.succeed(current(ref))
    return Effect.callback((resume) => {
      const done = () => {
        clearTimeout(timer)
        resume(Effect.succeed(current(ref)))
      }
      const timer = setTimeout(() => resume(Effect.succeed(undefined)), patienceMs)
      actor.settling.push(done)
    })
  }

  return { current, settled }
}
