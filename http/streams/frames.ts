/** Server-Sent Events as text. JSON holds no line ends, so a frame has one data line. */
import type { Hint, HintedEvent } from "../../src/bus/hints.ts"
import type { ActorStep } from "../inspection/api.ts"
import type { FrameType } from "./schemas.ts"

/** What is to be sent to a watcher: how it stands in the line before the socket. */
export interface QueuedFrame {
  readonly text: string
  /** Replaces the waiting frame with the same key. */
  readonly key?: string
  /** Text that a frame with the same key, waiting as the newest, and this one amount to together. */
  readonly join?: (waiting: string) => string
}

/** What watchers are told of as it is. */
export type ShownHint = Exclude<Hint, { readonly type: "look" | "moved" }>

type Of<T extends Hint["type"]> = Extract<Hint, { readonly type: T }>

const text = (event: FrameType, data: string) => `event: ${event}\ndata: ${data}\n\n`

/** First bytes of every stream: how long a client waits before it comes back. */
export const opening = "retry: 2000\n\n"
/** A comment: keeps proxies from closing a quiet line. */
export const ping = ": ping\n\n"

export const ready = (data: { readonly streamId: string; readonly lastSeq?: number }) =>
  text("ready", JSON.stringify(data))
export const bye = (reason: "draining" | "auth_expired") => text("bye", JSON.stringify({ reason }))
/** Of a thread's stream: the events from `fromSeq` to `toSeq` were left out. Of the others: something was. */
export const gap = (range?: { readonly fromSeq: number; readonly toSeq: number }) =>
  text("gap", JSON.stringify(range ?? {}))

/** A whole ThreadEvent, from its text. */
export const event = (seq: number, whole: string): QueuedFrame => ({
  text: `id: ${seq}\nevent: event\ndata: ${whole}\n\n`
})

/** Made for the first watcher, and the same for all others: one text in memory, however many have it waiting. */
const once = <K extends object, A>(make: (of: K) => A) => {
  const made = new WeakMap<K, A>()
  return (of: K) => {
    const known = made.get(of)
    if (known !== undefined) return known
    const fresh = make(of)
    made.set(of, fresh)
    return fresh
  }
}

/** The same, of an event that a hint brought with it; undefined when that came without its text. */
export const broughtEvent = once(({ seq, text }: HintedEvent) => (text === undefined ? undefined : event(seq, text)))

const hintedEvent = ({ agentId, threadId }: Of<"events">, { seq, turnId, type }: HintedEvent): QueuedFrame => ({
  text: text("event", JSON.stringify({ threadId, agentId, turnId, seq, type }))
})

export const status = ({
  lastSeq,
  status,
  threadId
}: Pick<Of<"status">, "lastSeq" | "status" | "threadId">): QueuedFrame => ({
  text: text("status", JSON.stringify({ threadId, status, lastSeq })),
  key: `status ${threadId}`
})

const queue = ({ pending, threadId }: Of<"queue">): QueuedFrame => ({
  text: text("queue", JSON.stringify({ threadId, pending })),
  key: `queue ${threadId}`
})

const wait = ({ state, target, threadId, waitId }: Of<"wait">): QueuedFrame => ({
  text: text("wait", JSON.stringify({ threadId, waitId, state, target }))
})

const discard = ({ eventId, threadId }: Of<"discard">): QueuedFrame => ({
  text: text("discard", JSON.stringify({ threadId, eventId }))
})

/** Of a call only the newest is worth waiting for. */
const progress = ({ message, progress, threadId, toolCallId, total }: Of<"progress">): QueuedFrame => ({
  text: text("progress", JSON.stringify({ threadId, toolCallId, progress, total, message })),
  key: `progress ${toolCallId}`
})

const operation = ({ action, agentId, operationId, state }: Of<"operation">): QueuedFrame => ({
  text: text("operation", JSON.stringify({ operationId, action, state, ...(agentId === "" ? {} : { agentId }) })),
  key: `operation ${operationId}`
})

const feed = ({ feedId, lastSeq }: Of<"feed">): QueuedFrame => ({
  text: text("feed", JSON.stringify({ feedId, lastSeq })),
  key: `feed ${feedId}`
})

export const step = (actorId: string, taken: ActorStep): QueuedFrame => ({
  text: text("step", JSON.stringify({ actorId, ...taken }))
})

/** Pieces that wait together leave as one, with the first one's index. */
export const delta = ({ eventId, index, text: piece, threadId, turnId }: Of<"delta">): QueuedFrame => ({
  text: text("delta", JSON.stringify({ threadId, turnId, eventId, index, text: piece })),
  key: `delta ${eventId}`,
  // The text is the data's last property: its closing `"}` makes room for the next piece.
  join: (waiting) => `${waiting.slice(0, -'"}\n\n'.length)}${JSON.stringify(piece).slice(1, -1)}"}\n\n`
})

/** What a hint is for watchers of an agent or a workspace, and for those of its thread unless it tells of events. */
export const framesOf = once((hint: ShownHint): ReadonlyArray<QueuedFrame> => {
  switch (hint.type) {
    case "events":
      return hint.events.map((event) => hintedEvent(hint, event))
    case "status":
      return [status(hint)]
    case "queue":
      return [queue(hint)]
    case "wait":
      return [wait(hint)]
    case "delta":
      return [delta(hint)]
    case "discard":
      return [discard(hint)]
    case "progress":
      return [progress(hint)]
    case "operation":
      return [operation(hint)]
    case "feed":
      return [feed(hint)]
  }
})
