/** Reads from an actor's head whether an append whose outcome is unknown was written (J4). */
import type { Statement } from "../database/Database.ts"
import { places, uuids } from "../database/parameters.ts"
import type { OwnedAppend } from "./appendSections.ts"

export interface SeenHead {
  readonly owner: string | null
  readonly epoch: number
  readonly rev: number
}

/** The head of the append at place `o`; its owner is a UUID. */
export interface SeenRow extends SeenHead {
  readonly o: number
}

export const confirmStatement = (appends: ReadonlyArray<OwnedAppend>): Statement => ({
  name: "append confirm",
  text: `select a.o, h.owner, h.epoch, h.rev from unnest($1::int[], $2::uuid[], $3::uuid[]) as a(o, w, id) join heads h
    on h.id = a.id and h.workspace = a.w`,
  values: [
    places(appends),
    uuids(appends, (append) => append.actor.workspace),
    uuids(appends, (append) => append.actor.id)
  ]
})

export type Fate = "done" | "refused" | "unknown"

/**
 * What became of an append that was refused at last, an attempt before having got no answer. Its head does
 * not tell when others have moved it since it had my epoch; nor when the inbox alone refused it: an attempt
 * that began earlier may have seen that empty, and be under way still.
 */
export const fateOf = (
  { requiresEmptyInbox, birth, epoch, owner, rev }: OwnedAppend,
  head: SeenHead | undefined
): Fate => {
  if (head === undefined) return "refused"
  if (head.epoch === epoch && head.owner === owner) {
    return head.rev === rev + 1
      ? "done"
      : head.rev === rev && birth === undefined && requiresEmptyInbox === true
        ? "unknown"
        : "refused"
  }
  // Under the epoch of its birth an actor has one owner, until it is given back.
  const isOthersBirth = birth !== undefined && head.epoch === epoch && head.owner !== null
  return head.rev > rev && !isOthersBirth ? "unknown" : "refused"
}
