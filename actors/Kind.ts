/** A kind of actor brings its host a pure core, and what performs its jobs. The host runs any kind and knows none. */
import { Effect } from "effect"
import type {
  ActorKind,
  ActorRef,
  FactRow,
  Head,
  InputRow,
  KindNouns,
  Loaded,
  Settled,
  Spent,
  WaitRow
} from "../src/journal/Journal.ts"
import type { Inspected } from "../machines/inspected.ts"
import type { Announcement } from "../src/webhooks/event.ts"
import type { Reply, Declined, Unreachable } from "./Actor.ts"

/** What a kind sees of one of its actors. */
export interface ActorView<Snapshot> {
  readonly ref: ActorRef
  readonly parent: string | null
  /** JSON text, as it was when the actor was born or loaded: it is edited past the actor. */
  readonly attributes: string
  readonly createdAt: number
  /** Before the command. */
  readonly head: Pick<Head, "updatedAt">
  readonly snapshot: Snapshot
  readonly desk: {
    /** How many of the milliseconds since then its jobs stood in line, and none of them ran. */
    readonly queuedMs: (since: number) => number
  }
}

/** What a job has to do with its node while it is performed. */
export interface Start {
  /** Called before a job that must not be repeated may take effect. */
  readonly begun: () => void
  /**
   * Takes the slots that whatever runs itself needs, once: nothing where they are free, else what has to be waited for.
   * They are free again when the job has ended. `since`: when the turn's running time began. `isFirst`: others wait for
   * it.
   */
  readonly enter: (since: number, isFirst: boolean) => Effect.Effect<void> | undefined
  /** The job was stopped, and nobody does it again: the actor's log is past it. */
  readonly isOver: boolean
}

/** What the head keeps of a snapshot. */
export type Standing = Pick<Head, "status" | "runnableAt" | "since" | "carry">

/** What one command writes, beside the standing that it leads to. Texts are made once, here. */
export interface WriteSet {
  readonly facts: ReadonlyArray<FactRow>
  readonly inputs?: { readonly put: ReadonlyArray<InputRow>; readonly drop: ReadonlyArray<string> } | undefined
  readonly waits?: ReadonlyArray<WaitRow> | undefined
  readonly spent?: Spent | undefined
  readonly settles?: ReadonlyArray<Settled> | undefined
  /** The actor is listed no more. */
  readonly archives?: boolean | undefined
  /** What webhooks are told, in workspaces that have any. */
  readonly announces?: ReadonlyArray<Announcement> | undefined
  /** It takes an input that nobody has acknowledged before: not while earlier ones wait in the inbox. */
  readonly requiresEmptyInbox?: boolean | undefined
}

export interface Decision<Snapshot, Job, W extends WriteSet = WriteSet> {
  readonly next: Snapshot
  /** Absent when the command changes nothing. */
  readonly written?: W
  readonly jobs: ReadonlyArray<Job>
  /** Made before the append, so that an idempotency key can keep it. */
  readonly answer: Reply
}

/**
 * How a job is run: under a name of its own, or by stopping every job whose name begins so. Two jobs have the same name
 * only if the outcome of one serves the other. `repeatable`: it may be performed again when nobody knows how it ended.
 */
export type Run = { readonly start: string; readonly repeatable: boolean } | { readonly stop: string }

/** How a request goes to another node. */
export interface Forwardable {
  /** The same each time that it is sent. */
  readonly id: string
  /** It can be kept for an owner that does not answer, and so need not wait long for the answer. */
  readonly storable: boolean
}

/** The jobs of a kind: what its states imply, and who performs them. */
export interface Jobs<Snapshot, Request, Job> {
  /** The jobs that a state implies: those that are under way, or should be. */
  readonly resume: (snapshot: Snapshot) => ReadonlyArray<Job>
  readonly run: (job: Job) => Run
  /** The outcome of a job that may have run, must not be repeated, and of which nothing is known. */
  readonly lostOutcome: (job: Job) => Request
  /** Performs a job that starts; its outcome comes back as a request. Never fails: a failure is an outcome. */
  readonly perform: (being: ActorView<Snapshot>, job: Job, start: Start) => Effect.Effect<Request | undefined>
  /** Jobs that have not begun because this node still reads what they begin with. Absent where none reads much. */
  readonly unready?: () => number
}

/** The moments of a kind whose actors have any. */
export interface Moments<Snapshot, Request> {
  /**
   * When the live actor wants `due`, in milliseconds; null: never. Where the moment has moved on by then, it is asked
   * again.
   */
  readonly nextDue: (being: ActorView<Snapshot>) => number | null
  /** The time. */
  readonly due: Request
}

/** Requests that may go to another node. Where a kind says nothing of it, none do. */
export interface AcrossNodes<Snapshot, Request> {
  /** Whether a request may go to another node: a client's may, a job's outcome (undefined) may not. */
  readonly forwardable: (request: Request) => Forwardable | undefined
  /** A request that has travelled, from its JSON; undefined of what is none. */
  readonly decodeRequest: (sent: unknown) => Request | undefined
  /**
   * What became of a request that may have been taken before: its answer; undefined when it was not. Fails where nobody
   * can tell. Absent where taking it twice is taking it once.
   */
  readonly priorReply?: (being: ActorView<Snapshot>, request: Request) => Effect.Effect<Reply | undefined, Unreachable>
}

/** What a kind has to say of itself. `W`: what it adds to the rows for its own `committed`. */
export interface KindDefinition<Snapshot, Request, Command, Job, W extends WriteSet = WriteSet> {
  readonly name: ActorKind
  readonly nouns: KindNouns
  /** The snapshot of an actor before its first fact. */
  readonly blank: Snapshot
  /**
   * What is stored of every snapshot, `blank` among them: with the facts from `since` on and the pending inputs, `load`
   * makes the same snapshot of it.
   */
  readonly standing: (snapshot: Snapshot) => Standing
  readonly load: (loaded: Loaded) => Snapshot
  /** Completes a request with ids, time and whatever the chart needs and does not hold. Fast: mostly caches. */
  readonly prepare: (
    being: ActorView<Snapshot>,
    request: Request,
    at: number
  ) => Effect.Effect<Command, Declined | Unreachable>
  /** Pure. */
  readonly decide: (being: ActorView<Snapshot>, command: Command) => Decision<Snapshot, Job, W> | Declined
  /**
   * After the commit: hints and caches. Synchronous, must not throw. `before` and `seq` are as they were before this
   * command.
   */
  readonly committed?: (being: ActorView<Snapshot>, before: Snapshot, written: W, seq: number) => void
  readonly jobs?: Jobs<Snapshot, Request, Job>
  readonly moments?: Moments<Snapshot, Request>
  readonly remote?: AcrossNodes<Snapshot, Request>
  /** For people who look at its actors. */
  readonly inspected: Inspected
  /** The type of the chart's command; undefined of what is none. */
  readonly causeOf: (command: Command) => string | undefined
  /** Sent instead of performing what the state implies, when the actor was taken up too often without progress. */
  readonly poison?: Request
}

/** A kind as its host uses it: whatever its definition leaves out does nothing. */
export interface Kind<Snapshot, Request, Command, Job, W extends WriteSet = WriteSet>
  extends Required<Omit<KindDefinition<Snapshot, Request, Command, Job, W>, "jobs" | "moments" | "remote" | "poison">>,
    Required<Jobs<Snapshot, Request, Job>>,
    Pick<Moments<Snapshot, Request>, "nextDue">,
    Required<AcrossNodes<Snapshot, Request>> {
  /** Absent where no actor of the kind has moments. */
  readonly due?: Request
  readonly poison?: Request
}

const noJobs = {
  resume: () => [],
  run: (): never => {
    throw new Error("a kind without jobs has been asked for one")
  },
  lostOutcome: (): never => {
    throw new Error("a kind without jobs has been asked for one")
  },
  perform: () => Effect.succeed(undefined)
}

export const defineKind = <Snapshot, Request, Command, Job, W extends WriteSet = WriteSet>({
  jobs = noJobs,
  moments,
  remote,
  ...kind
}: KindDefinition<Snapshot, Request, Command, Job, W>): Kind<Snapshot, Request, Command, Job, W> => ({
  committed: () => {},
  nextDue: () => null,
  unready: () => 0,
  forwardable: () => undefined,
  decodeRequest: () => undefined,
  priorReply: () => Effect.succeed(undefined),
  ...kind,
  ...jobs,
  ...moments,
  ...remote
})
