/**
 * What the memory journal keeps: the rows of one "database", which several owners may share, and the
 * faults that a test plans for it.
 *
 * Time is the program's Clock, so that leases and due moments move with a test's.
 */
import type {
  ActorRef,
  Append,
  Head,
  IdempotencyRow,
  InboxRow,
  InputRow,
  PostedWanted,
  StoredFact,
  WaitRow
} from "./Journal.ts"
import type { NodeStatus } from "./Lease.ts"

export interface MemoryActor {
  readonly ref: ActorRef
  readonly parent: string | null
  readonly attributes: string
  readonly createdAt: number
  owner: string | null
  epoch: number
  head: Head
  fruitless: number
  readonly facts: Array<StoredFact>
  readonly inputs: Map<string, InputRow>
  readonly waits: Map<string, WaitRow>
}

/**
 * What happens to a commit. A crash leaves the owner silent for ever: neither this append nor any later
 * call is answered. A lost connection is settled by reading the head (J4), as the real journal does.
 * Of an append that is late its caller hears that the journal is unavailable, while the statement is
 * still on its way: it arrives just before the next claim of its actor, one that is too late just after
 * it, and either when a test calls `arrive`.
 */
export type Fault = "crash before" | "crash after" | "lost before" | "lost after" | "unavailable" | "late" | "too late"

/** What is asked of the journal beside appends. */
export type Read =
  | "due"
  | "tend"
  | "claim"
  | "load"
  | "log"
  | "key"
  | "keep"
  | "inbox"
  | "posted"
  | "post"
  | "release"
  | "attributes"
  | "input"
  | "quarantine"

/** What happens to a read. */
export type ReadFault = "unasked" | "unanswered"

/** An append that nobody waits for any more. */
interface Underway {
  readonly append: Append
  readonly owner: string
  readonly fault: "late" | "too late"
}

export const dayMs = 86_400_000

/** A constraint of the store was broken (J3). */
export class Violation extends Error {}

export class MemoryStore {
  readonly actors = new Map<string, MemoryActor>()
  /** What must not happen twice, and has happened. */
  readonly once = new Set<string>()
  readonly keys = new Map<string, IdempotencyRow & { readonly at: number }>()
  readonly inbox = new Map<string, InboxRow>()
  /** USD by workspace, subject and minute. */
  readonly spend = new Map<string, number>()
  readonly nodes = new Map<string, { readonly name: string; deadline: number; status: NodeStatus }>()
  authRevision = 1
  /** Commits so far, those with a fault included. */
  commits = 0
  /** Asked before each commit, with its number from 1. */
  fault: (commit: number, append: Append, owner: string) => Fault | undefined = () => undefined
  /** What has been asked of each kind so far, what failed included. */
  readonly reads = new Map<Read, number>()
  /**
   * Asked before each read, with its number among those of its kind, from 1: it gets no answer, and was carried out or
   * not.
   */
  readFault: (read: Read, n: number, owner: string) => ReadFault | undefined = () => undefined
  private underway: Array<Underway> = []
  /** Owners that have crashed. */
  readonly crashed = new Set<string>()
  /** Told of each crash. */
  onCrash: (owner: string) => void = () => {}

  alive(incarnation: string, now: number) {
    return (this.nodes.get(incarnation)?.deadline ?? 0) > now
  }

  /** Ends a lease at once, as if its beats had stayed away. */
  lapse(incarnation: string) {
    const node = this.nodes.get(incarnation)
    if (node) node.deadline = 0
  }

  /** Counts a read; what happens to it. */
  faultOf(read: Read, owner: string) {
    const n = (this.reads.get(read) ?? 0) + 1
    this.reads.set(read, n)
    return this.readFault(read, n, owner)
  }

  /** An append leaves its caller without an answer, and arrives some time. */
  delay(underway: Underway) {
    this.underway.push(underway)
  }

  /**
   * What is still on its way arrives now: all of it, or one actor's. Who sent it is dead or has given up: nobody hears
   * of a refusal.
   */
  arrive(now: number, which: (underway: Underway) => boolean = () => true) {
    const arriving = this.underway.filter(which)
    this.underway = this.underway.filter((each) => !arriving.includes(each))
    for (const { append, owner } of arriving) this.commit(append, owner, now)
  }

  /** Commits, or says no (false); throws what a unique index would refuse, with nothing changed. */
  commit(append: Append, owner: string, now: number): boolean {
    const { actor: ref, birth, epoch, facts, head, rev } = append
    const place = keyOf(ref)
    const found = this.actors.get(place)
    if (
      birth === undefined
        ? found === undefined || found.owner !== owner || found.epoch !== epoch || found.head.rev !== rev
        : found !== undefined
    ) {
      return false
    }
    if (append.keys?.some((key) => this.keyOf(ref.workspace, key.scope, now) !== undefined) === true) return false
    if (append.requiresEmptyInbox === true && this.inboxOf(ref).length > 0) return false
    const actor: MemoryActor = found ?? {
      ref,
      parent: birth?.parent ?? null,
      attributes: birth?.attributes ?? "",
      createdAt: head.updatedAt,
      owner,
      epoch,
      head,
      fruitless: 0,
      facts: [],
      inputs: new Map(),
      waits: new Map()
    }
    const rows = this.number(actor, append, found === undefined)
    for (const row of rows) {
      actor.facts.push(row)
      if (row.once !== null) this.once.add(row.once)
    }
    actor.head = { ...head, rev: rev + 1 }
    if (facts.length > 0) actor.fruitless = 0
    this.actors.set(place, actor)
    const put = new Set(append.inputs?.put.map((row) => row.id))
    for (const id of append.inputs?.drop ?? []) if (!put.has(id)) actor.inputs.delete(id)
    for (const row of append.inputs?.put ?? []) actor.inputs.set(row.id, row)
    for (const row of append.waits ?? []) actor.waits.set(row.id, row)
    for (const key of append.keys ?? []) this.keys.set(ref.workspace + key.scope, { ...key, at: now })
    if (append.spent !== undefined) {
      const { amount, subject } = append.spent
      const cell = `${ref.workspace} ${subject} ${Math.floor(head.updatedAt / 60_000)}`
      this.spend.set(cell, (this.spend.get(cell) ?? 0) + amount)
    }
    for (const id of append.accepted ?? []) this.inbox.delete(ref.workspace + id)
    return true
  }

  keyOf(workspace: string, scope: string, now: number): IdempotencyRow | undefined {
    const found = this.keys.get(workspace + scope)
    if (found === undefined || found.at <= now - dayMs) return undefined
    const { at: _, ...row } = found
    return row
  }

  /** Rows of the inbox for one actor: a Map keeps the order in which they came. */
  inboxOf({ id, workspace }: ActorRef): ReadonlyArray<InboxRow> {
    return [...this.inbox.values()].filter(({ actor }) => actor.id === id && actor.workspace === workspace)
  }

  inboxRows(ref: ActorRef, { except, rows }: PostedWanted): ReadonlyArray<InboxRow> {
    return this.inboxOf(ref)
      .filter(({ id }) => !except.includes(id))
      .slice(0, rows)
  }

  /** The facts as rows; refuses what a bug would write (J2, J3). */
  private number(actor: MemoryActor, { facts, head }: Append, fresh: boolean): ReadonlyArray<StoredFact> {
    let pos = fresh ? 0 : actor.head.pos
    let seq = fresh ? 0 : actor.head.seq
    const seen = new Set<string>()
    let at = actor.facts.at(-1)?.at ?? 0
    const rows = facts.map((fact): StoredFact => {
      if (fact.once !== null) {
        if (this.once.has(fact.once) || seen.has(fact.once)) throw new Violation(`${fact.once} happened already`)
        seen.add(fact.once)
      }
      if (fact.at < at) throw new Violation(`time falls from ${at} to ${fact.at}`)
      at = fact.at
      JSON.parse(fact.event)
      return { ...fact, pos: ++pos, seq: fact.public ? ++seq : null }
    })
    if (pos !== head.pos || seq !== head.seq)
      throw new Violation(`the head says ${head.pos}/${head.seq}, its facts ${pos}/${seq}`)
    return rows
  }
}

export const keyOf = ({ id, workspace }: ActorRef) => workspace + id
