/** What clients did and what they were told, with monotonic times: the checker holds it against the journal. */

/** An input that a client meant to send: one under one idempotency key, however often it was tried. */
export interface Sent {
  /** Unique: the first line of its text. */
  readonly label: string
  readonly mode: "queue" | "steer" | "interrupt"
  readonly began: number
  ended?: number
  /** `unknown`: no answer came in the end. */
  outcome: "acknowledged" | "refused" | "unknown"
  inputId?: string
  /** Of its answer: queued, steered or admitted. */
  state?: string
}

export interface ThreadHistory {
  readonly workspace: string
  readonly threadId: string
  readonly sent: Array<Sent>
  /** Inputs that somebody asked to remove. */
  readonly mayBeGone: Set<string>
  /** Somebody asked to clear the queue: inputs that nobody was told of may be gone with it. */
  cleared: boolean
  /** Inputs whose place in the order is not promised: promoted, or sent beside others. */
  readonly unordered: Set<string>
  /** The turn that a steer was told it joins. */
  readonly joins: Map<string, string>
  /** The seq that an input was promised. */
  readonly promised: Map<string, number>
  /** First lines that an input may have by now: the last acknowledged edit, and those of unknown outcome since. */
  readonly texts: Map<string, Set<string>>
  /** Scripted by the ledger's model, whose calls are counted. */
  readonly prober: boolean
  /** Its turns are long silences. */
  readonly sleeper: boolean
}

/** A client saw the thread reach this seq. */
export interface Seen {
  readonly threadId: string
  readonly seq: number
  /** It was told that there is no more. */
  readonly whole: boolean
  readonly began: number
  readonly ended: number
}

/** A client gave an answer, and it was accepted. */
export interface GivenAnswer {
  readonly threadId: string
  readonly waitId: string
  /** What makes it different from every other answer. */
  readonly mark: string
}

export interface Requested {
  readonly began: number
  readonly ended: number
  readonly tries: number
  /** Why tries failed. */
  readonly failed?: string
  readonly submit: boolean
  /** It was never answered. */
  readonly lost: boolean
}

/** One reader's whole log by a stream that breaks and goes on. */
export interface Followed {
  readonly threadId: string
  readonly seqs: Array<number>
}

/** What the clients of one newsroom know of it (clients/newsroom.ts). */
export interface Newsroom {
  readonly agentId: string
  readonly feedId: string
  readonly webhookId: string
  readonly subscriptions: ReadonlyArray<string>
  /** Of what was acknowledged: the seq of each text. */
  readonly appended: Map<string, number>
  /** The instant of each schedule that has one, milliseconds. */
  readonly schedules: Map<string, number>
  /** The schedule of every minute: when it was made, milliseconds, and its runs as the API lists them, newest first. */
  readonly minutely: {
    readonly id: string
    readonly madeAt: number
    readonly runs: () => Promise<ReadonlyArray<unknown>>
  }
  /** Events that the endpoint has taken. */
  readonly taken: Set<string>
}

export class History {
  readonly threads = new Map<string, ThreadHistory>()
  readonly seen: Array<Seen> = []
  readonly answers: Array<GivenAnswer> = []
  readonly requests: Array<Requested> = []
  readonly followed: Array<Followed> = []
  /** Limits of agents with a budget for all time, in USD. */
  readonly budgets = new Map<string, number>()
  /** Operations that somebody decided: the agent that each makes, and whether whoever asked had lost their key. */
  readonly operations = new Map<string, { readonly name: string; readonly revoked: boolean }>()
  /** Writes of memory that were answered: of which entry, and the versions before and after. */
  readonly writes: Array<{ readonly what: string; readonly expectedVersion: string; readonly version: string }> = []
  readonly newsrooms: Array<Newsroom> = []
  /** Leases that were good while their turns ran. */
  leases = 0
  /** What no client may ever see. */
  readonly problems: Array<string> = []
  /** Requests across workspaces that were refused as they must be. */
  foreign = 0
  /** Refusals of a disabled identity's key that were in time. */
  revocations = 0

  get acknowledged() {
    let count = 0
    for (const { sent } of this.threads.values())
      for (const { outcome } of sent) if (outcome === "acknowledged") count++
    return count
  }
}
