/**
 * The actors of one kind that are in this node's memory: by id, by shard, by desk, and by when they want to be told the
 * time.
 */
import type { Desk } from "./Desk.ts"
import type { Activation } from "./live.ts"
import type { Kind } from "./Kind.ts"
import { MomentQueue } from "./moments.ts"

export class Residents<Snapshot, Request> {
  private readonly live = new Map<string, Activation<Snapshot, Request>>()
  /** How many actors of a shard are here. */
  private readonly shards = new Map<number, number>()
  private readonly moments = new MomentQueue<Activation<Snapshot, Request>>()
  private readonly nextDue: Kind<Snapshot, Request, unknown, unknown>["nextDue"]

  constructor(nextDue: Kind<Snapshot, Request, unknown, unknown>["nextDue"]) {
    this.nextDue = nextDue
  }

  get size() {
    return this.live.size
  }

  get(id: string) {
    return this.live.get(id)
  }

  has(id: string) {
    return this.live.has(id)
  }

  /** As they are now: any of them may leave meanwhile. */
  all(): ReadonlyArray<Activation<Snapshot, Request>> {
    return [...this.live.values()]
  }

  /** Whose desk it is, while that actor is here. */
  employer(desk: Desk<Request>) {
    const actor = this.live.get(desk.actorId)
    return actor?.desk === desk ? actor : undefined
  }

  /** Whether an actor of that shard is here. */
  holds(shard: number) {
    return this.shards.has(shard)
  }

  enter(actor: Activation<Snapshot, Request>) {
    this.live.set(actor.ref.id, actor)
    this.shards.set(actor.shard, (this.shards.get(actor.shard) ?? 0) + 1)
    this.note(actor)
  }

  leave(actor: Activation<Snapshot, Request>) {
    if (this.live.get(actor.ref.id) !== actor) return
    this.live.delete(actor.ref.id)
    this.moments.forget(actor)
    const left = (this.shards.get(actor.shard) ?? 1) - 1
    if (left === 0) this.shards.delete(actor.shard)
    else this.shards.set(actor.shard, left)
  }

  /** The actor wants to be told the time when its moment comes. */
  note(actor: Activation<Snapshot, Request>) {
    if (actor.head.runnableAt === null || this.live.get(actor.ref.id) !== actor) return
    const due = this.nextDue(actor)
    if (due !== null) this.moments.by(actor, due)
  }

  /** Whether the actor wants to be told the time by then. */
  isDueBy(actor: Activation<Snapshot, Request>, at: number) {
    return actor.head.runnableAt !== null && (this.nextDue(actor) ?? Infinity) <= at
  }

  /** Those at rest whose moment has come, so many at most; noted again, should they not take it. */
  due(now: number, most: number): ReadonlyArray<Activation<Snapshot, Request>> {
    const due: Array<Activation<Snapshot, Request>> = []
    const looked: Array<Activation<Snapshot, Request>> = []
    while (due.length < most) {
      const actor = this.moments.next(now)
      if (actor === undefined) break
      looked.push(actor)
      if (!actor.busy && (this.nextDue(actor) ?? Infinity) <= now) due.push(actor)
    }
    for (const actor of looked) this.note(actor)
    return due
  }
}
