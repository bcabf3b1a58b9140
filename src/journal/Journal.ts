/**
 * The journal: every actor's facts, its head, and the rows that change with them.
 *
 * J1. An append is all or nothing, and is fenced by the epoch: it succeeds only for the holder of the head's epoch at
 *     the revision it last saw. Appends of many actors share one statement; an append that loses does not delay the
 *     others.
 * J2. `pos` numbers an actor's facts without gaps, `seq` the public ones among them.
 * J3. `once` is refused a second time: one admission per input, one end per turn, one result per
 *     call, one resolution per wait. Only a bug runs into it: a defect, not an error.
 * J4. An append whose outcome is unknown is resolved by reading the head: a head at my epoch and my
 *     next revision is my success, since nobody else can write under my epoch. Where the head does not
 *     tell, since others have moved it by then, the append stays in doubt: `JournalUnavailable`.
 * J5. A claim raises the epoch, also when the actor is mine already: an append that was sent before the
 *     claim and arrives after it is refused. A claim succeeds when the actor has no owner, when its
 *     owner's lease has lapsed by the database's clock, or when it is already mine. A claim with `onlyMine`
 *     succeeds in the last case alone: a node that leaves does not take again what it has given back.
 * J6. Commands that were stored in the inbox for an actor come before commands that are sent to it later: an append
 *     that queues an input is refused while something waits there.
 */
import { Context, Data, type Effect } from "effect"
import type { Shards } from "./shard.ts"
import type { Noun } from "../domain/ids.ts"

/** The name of a kind of actor, such as `thread`. */
export type ActorKind = string

/** What the database's UUIDs do not say of a kind: the nouns of its actors' ids, and of their parents'. */
export interface KindNouns {
  readonly id: Noun
  readonly parent: Noun | null
}

export interface ActorRef {
  readonly workspace: string
  readonly kind: ActorKind
  readonly id: string
}

/** A fact as a row. `event` and `detail` are JSON texts, made once. */
export interface FactRow {
  readonly type: string
  readonly turn: string | null
  /** Number of the event within its turn: with the turn it makes the eventId. */
  readonly n: number
  /** Gets a seq. */
  readonly public: boolean
  /** The event's own fields: an object's text, without seq, eventId, threadId, turnId, type, occurredAt. */
  readonly event: string
  readonly detail: string | null
  readonly once: string | null
  /** Milliseconds; never falls along pos. */
  readonly at: number
  /** It is looked for across a workspace's actors: its row names the workspace. */
  readonly listed?: boolean
  /** Of a command's first fact: the command's code. */
  readonly cause?: number | undefined
}

export interface StoredFact extends FactRow {
  readonly pos: number
  readonly seq: number | null
}

/** A fact as whoever folds a log reads it: parsed, without its moment. */
export interface LoggedFact {
  readonly pos: number
  /** Of a private one null. */
  readonly seq: number | null
  readonly type: string
  readonly turn: string | null
  readonly n: number
  /** Its type is among its fields. */
  readonly event: unknown
  readonly detail?: unknown
}

export interface Log {
  readonly facts: ReadonlyArray<LoggedFact>
  /** Of the last fact; undefined without any. */
  readonly pos: number | undefined
  /** Of all texts, as they are stored. */
  readonly characters: number
}

/** An input that waits, or one that was cancelled: the admitted ones are facts. `body` is the kind's own JSON text. */
export interface InputRow {
  readonly id: string
  /** Order of arrival within the actor. */
  readonly ord: number
  readonly state: "pending" | "cancelled"
  readonly body: string
}

/** A wait, open or over: who answered it must be found without its actor. `body` is the kind's own JSON text. */
export interface WaitRow {
  readonly id: string
  readonly target: "person" | "client" | "url" | "agent"
  readonly state: "open" | "resolved" | "expired" | "cancelled"
  readonly createdAt: number
  readonly body: string
  /** The call whose result a client owes, and its toolset: found by the one, listed by the other. */
  readonly call?: { readonly id: string; readonly toolset?: string }
}

/** An event of webhooks (src/webhooks/event.ts): `body` is JSON text. */
export interface EventRow {
  readonly id: string
  readonly type: string
  readonly agentId?: string
  readonly body: string
  /** Milliseconds. */
  readonly at: number
}

export interface IdempotencyRow {
  /** Hash of credential, route and path ids with the client's key. */
  readonly scope: string
  /** Hash of the request's body. */
  readonly fingerprint: string
  readonly status: number
  readonly body: string
}

/** The small state of an actor that outlives its facts in memory. */
export interface Head {
  readonly pos: number
  readonly seq: number
  /** Number of appends so far: what compare-and-set checks, with the epoch. */
  readonly rev: number
  readonly status: string
  /** Milliseconds: the earliest moment at which the actor has something to do; null at rest. */
  readonly runnableAt: number | null
  /** The first pos that a fold needs, or null when the carry says all. */
  readonly since: number | null
  /** JSON text of the kind's own. */
  readonly carry: string
  readonly updatedAt: number
}

/** Money, booked in the current minute. */
export interface Spent {
  /** The agent whose money it is. */
  readonly subject: string
  /** USD. */
  readonly amount: number
}

/** A model call that something was set aside for (src/agents/Budgets.ts) is over. */
export interface Settled {
  /** UUID of the reservation. */
  readonly id: string
  /** USD; absent where the call was cut off: it costs its prompt's price, and that is booked with it. */
  readonly cost?: number
}

export interface Append {
  readonly actor: ActorRef
  readonly epoch: number
  /** Revision before this append: 0 for a birth. */
  readonly rev: number
  /** Head after this append. */
  readonly head: Head
  readonly facts: ReadonlyArray<FactRow>
  /** The actor's birth: its head and attributes are inserted; refused when it exists. */
  readonly birth?: { readonly parent: string | null; readonly attributes: string } | undefined
  readonly inputs?: { readonly put: ReadonlyArray<InputRow>; readonly drop: ReadonlyArray<string> } | undefined
  readonly waits?: ReadonlyArray<WaitRow> | undefined
  readonly keys?: ReadonlyArray<IdempotencyRow> | undefined
  readonly spent?: Spent | undefined
  /** Reservations of model calls that are over with this append. */
  readonly settles?: ReadonlyArray<Settled> | undefined
  /** Lists leave the actor out from now on. */
  readonly archives?: boolean | undefined
  /** What webhooks are told of this append, and only if it is made. */
  readonly announces?: ReadonlyArray<EventRow> | undefined
  /**
   * The head's runnableAt where this append makes it another moment than before: it is noted on the agenda
   * (src/journal/agenda.ts).
   */
  readonly wakes?: number | undefined
  /** Rows of the inbox that this append accepts, and deletes. */
  readonly accepted?: ReadonlyArray<string> | undefined
  /** Refused while the inbox holds a row for the actor (J6). */
  readonly requiresEmptyInbox?: boolean | undefined
}

/** An actor that has been taken: what its head alone says. */
export interface Claimed {
  readonly actor: ActorRef
  readonly parent: string | null
  readonly attributes: string
  readonly createdAt: number
  readonly epoch: number
  readonly head: Head
  /** Claims from a lapsed lease since the last append with a fact, this one included. */
  readonly takeovers: number
  /**
   * This incarnation owned it when the claim was asked for; false where that is not known. An earlier claim
   * whose answer was lost makes it an owner too: it says nothing of what this node has performed.
   */
  readonly mine: boolean
}

/** What an actor is loaded from. */
export interface Loaded extends Claimed {
  /** Facts from `head.since` on. */
  readonly facts: ReadonlyArray<StoredFact>
  /** Pending ones, by ord. */
  readonly inputs: ReadonlyArray<InputRow>
}

/** Another owner holds the actor, or it was born already: the caller has lost it, for good. */
export class Superseded extends Data.TaggedError("Superseded")<{ readonly actor: ActorRef }> {}

/** The actor is owned by another live node. */
export class OwnedElsewhere extends Data.TaggedError("OwnedElsewhere")<{
  readonly actor: ActorRef
  readonly node: string
}> {}

/** Nobody owns the actor, and the claim was one with `onlyMine`. */
export class NotOwned extends Data.TaggedError("NotOwned")<{ readonly actor: ActorRef }> {}

export class NoSuchActor extends Data.TaggedError("NoSuchActor")<{ readonly actor: ActorRef }> {}

/** The database did not answer in time: what was to be written may be written, or be so later. */
export class JournalUnavailable extends Data.TaggedError("JournalUnavailable")<{ readonly cause: unknown }> {}

/** J3 was broken: a bug. The batch's other actors are not harmed. */
export class Inconsistent extends Data.TaggedError("Inconsistent")<{
  readonly actor: ActorRef
  readonly cause: unknown
}> {}

export interface Attributes {
  /** JSON text of the kind's own. */
  readonly text: string
  /** Raised by every edit: the ETag. */
  readonly version: number
}

/** What became of an input. */
export type StoredInput =
  | { readonly state: "pending" | "cancelled"; readonly row: InputRow }
  | { readonly state: "admitted"; readonly fact: StoredFact & { readonly seq: number } }

export interface InboxRow {
  readonly id: string
  readonly actor: ActorRef
  readonly command: string
}

/** What a look at the inbox asks for. */
export interface InboxWanted {
  /** So many actors at most, ... */
  readonly actors: number
  /** ... and so many rows of each. */
  readonly rows: number
  /** Of actors of these shards that nobody alive owns; of those that this node owns in any case. */
  readonly shards: Shards
  /** The id of the actor at which the look before this one ended; undefined to begin. */
  readonly after: string | undefined
  /** Rows that the caller cannot read. */
  readonly except: ReadonlyArray<string>
}

/** Which inbox rows of one actor. */
export interface PostedWanted {
  /** So many at most. */
  readonly rows: number
  /** Rows that the caller cannot read. */
  readonly except: ReadonlyArray<string>
}

export class Journal extends Context.Service<
  Journal,
  {
    /** From now on actors of that kind are found by `due` and `inbox`: others are left to nodes that know them. */
    readonly know: (kind: ActorKind, nouns: KindNouns) => void
    /** Waits for the commit. Grouped with whatever else is appended meanwhile. */
    readonly append: (append: Append) => Effect.Effect<void, Superseded | JournalUnavailable>
    /**
     * Takes one actor over and reads its head; with `onlyMine`, only where this node owns it already (J5). Concurrent
     * claims share statements.
     */
    readonly claim: (
      actor: ActorRef,
      onlyMine?: boolean
    ) => Effect.Effect<Claimed, NoSuchActor | NotOwned | OwnedElsewhere | JournalUnavailable>
    /**
     * Reads what a claimed actor is loaded from, as of its claim. Concurrent loads share statements, and none fails for
     * another's rows.
     */
    readonly load: (claimed: Claimed) => Effect.Effect<Loaded, JournalUnavailable>
    /**
     * Gives actors back: no owner, epoch unchanged; whoever looks finds those that have a moment. Refused ones are
     * skipped in silence.
     */
    readonly release: (
      actors: ReadonlyArray<{ readonly actor: ActorRef; readonly epoch: number }>
    ) => Effect.Effect<void, JournalUnavailable>
    /**
     * Sets an actor aside: its status is failed and nothing of it is due, until a command wakes it. Decides nothing,
     * and writes no fact. Only its owner under this epoch can; for anybody else nothing happens, in silence.
     */
    readonly quarantine: (actor: ActorRef, epoch: number) => Effect.Effect<void, JournalUnavailable>
    /**
     * Actors of these shards that are due by the database's clock, or will be within so many milliseconds, and that
     * nobody alive owns: at most `limit`, earliest first. One may be found twice over and told once: where half of
     * `limit` are told, there may be more.
     */
    readonly due: (
      limit: number,
      shards: Shards,
      aheadMs?: number
    ) => Effect.Effect<ReadonlyArray<ActorRef>, JournalUnavailable>
    /**
     * Upkeep of what `due` reads, a bounded piece of it: this node's part and, if asked, the part of those who are
     * gone.
     */
    readonly tend: (others: boolean) => Effect.Effect<void, JournalUnavailable>
    /** An actor's facts of these types after `pos`, in order. */
    readonly log: (
      actor: ActorRef,
      afterPos: number,
      types: ReadonlyArray<string>
    ) => Effect.Effect<Log, JournalUnavailable>
    /** The kept answer to an idempotency key of the last 24 h. */
    readonly key: (workspace: string, scope: string) => Effect.Effect<IdempotencyRow | undefined, JournalUnavailable>
    /**
     * Keeps the answer to a command that changed nothing: no actor, only the row of its key. False, and nothing stored,
     * when one is kept already.
     */
    readonly keep: (workspace: string, row: IdempotencyRow) => Effect.Effect<boolean, JournalUnavailable>
    /** An actor's attributes as they are now, and how often they were edited: they are edited past it. */
    readonly attributes: (actor: ActorRef) => Effect.Effect<Attributes | undefined, JournalUnavailable>
    /** What became of an input of an actor, if it was ever taken. */
    readonly input: (actor: ActorRef, inputId: string) => Effect.Effect<StoredInput | undefined, JournalUnavailable>
    /**
     * Stores a command for an actor whose owner cannot be reached; the same id twice is one row. With the
     * answer that is given under an idempotency key: false, and nothing stored, when one is kept already.
     */
    readonly post: (row: InboxRow, kept?: IdempotencyRow) => Effect.Effect<boolean, JournalUnavailable>
    /** The first inbox rows of several actors, actor by actor in the order of their ids, each one's oldest first. */
    readonly inbox: (wanted: InboxWanted) => Effect.Effect<ReadonlyArray<InboxRow>, JournalUnavailable>
    /** The first inbox rows for one actor, oldest first. */
    readonly inboxRows: (
      actor: ActorRef,
      wanted: PostedWanted
    ) => Effect.Effect<ReadonlyArray<InboxRow>, JournalUnavailable>
  }
>()("troupe/Journal") {}
