/** Actors that have something to do, at once or at a moment, and which of them their owners find. */
import { Effect } from "effect"
import type { ActorRef, Append, Head } from "../../src/journal/Journal.ts"
import { allShards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import type { Owner } from "./journals.ts"

export const workspace = freshId("workspace")
export const thread = (): ActorRef => ({ workspace, kind: "thread", id: freshId("thread") })
export const headOf = (runnableAt: number | null): Head => ({
  pos: 0,
  seq: 0,
  rev: 1,
  status: "idle",
  runnableAt,
  since: null,
  carry: "{}",
  updatedAt: Date.now()
})
export const wakes = (runnableAt: number | null): Pick<Append, "wakes"> =>
  runnableAt === null ? {} : { wakes: runnableAt }
export const birth = (actor: ActorRef, runnableAt: number | null): Append => ({
  actor,
  epoch: 1,
  rev: 0,
  head: headOf(runnableAt),
  facts: [],
  birth: { parent: null, attributes: "{}" },
  ...wakes(runnableAt)
})
export const move = (actor: ActorRef, epoch: number, rev: number, runnableAt: number | null): Append => ({
  actor,
  epoch,
  rev,
  head: headOf(runnableAt),
  facts: [],
  ...wakes(runnableAt)
})
export const past = () => Date.now() - 1_000
export const born = (owner: Owner, count: number, runnableAt: number | null = past()) => {
  const actors = Array.from({ length: count }, thread)
  return Effect.as(
    Effect.forEach(actors, (actor) => owner.journal.append(birth(actor, runnableAt)), {
      concurrency: "unbounded",
      discard: true
    }),
    actors
  )
}
export const idsOf = (refs: ReadonlyArray<ActorRef>) => refs.map(({ id }) => id).sort()
export const dueOf = (owner: Owner, mine: ReadonlyArray<ActorRef>, limit = 1_000) =>
  Effect.map(owner.journal.due(limit, allShards), (due) =>
    idsOf(due.filter(({ id }) => mine.some((actor) => actor.id === id)))
  )
