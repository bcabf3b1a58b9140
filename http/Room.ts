/**
 * Clients may hold only so much of this node's memory with what is under way: answers that nobody reads, bodies that
 * do not end.
 *
 * H1. Answers: what the kernel has not taken. At most `answerBytes` for the node (503 above), `answersPerKey` of one
 *     key at once and `shareBytes` of it (429 above). Looked at as often as every 50 ms while requests come: no request
 *     pays for it. A key counts for the node with no more than its share, however much came between two looks. Answers
 *     to requests without a good credential do not count: they are a few bytes, or the same ones for all
 *     (reference.ts).
 * H2. Bodies: what has come of those that did not come in one piece. At most `bodyBytes` for the node (503 above), and
 *     of one key `bodiesPerKey` at once and `shareBytes` (429 above).
 * H3. A key is refused for what it holds itself before anybody is refused for what all hold.
 */
import { Context, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { answersUnread, bodiesUnfinished, record, requestsRefused } from "../src/telemetry/metrics.ts"
import { Refused } from "./errors.ts"
import { socketOf } from "./headers.ts"
import { type Peer, peerOf } from "./Peer.ts"

export interface RoomOptions {
  readonly answerBytes: number
  readonly answersPerKey: number
  readonly bodyBytes: number
  readonly bodiesPerKey: number
  /** Of the bytes of either, what one key may hold. */
  readonly shareBytes: number
}

const MiB = 1024 * 1024

export const roomDefaults: RoomOptions = {
  answerBytes: 48 * MiB,
  answersPerKey: 128,
  bodyBytes: 48 * MiB,
  bodiesPerKey: 64,
  shareBytes: 16 * MiB
}

type Crowded = Refused<"rate_limited" | "runtime_unavailable">

const lookMs = 50

/** A body that arrives piece by piece. */
export interface Arriving {
  /** Counts what came; the refusal once that is too much. */
  readonly grow: (bytes: number) => Crowded | undefined
  /** It has ended, well or badly. */
  readonly done: () => void
}

export class Room extends Context.Service<
  Room,
  {
    /** Why a request of that key is not taken now, because of answers that were not. */
    readonly refuse: (request: HttpServerRequest.HttpServerRequest, keyId: string) => Crowded | undefined
    /** Room for a body that does not come in one piece. */
    readonly body: (keyId: string) => Arriving | Crowded
  }
>()("troupe/http/Room") {
  static readonly layerOf = (peers: ReadonlySet<Peer>, options: RoomOptions) =>
    Layer.sync(Room, () => makeRoom(peers, options, () => performance.now()))
}

interface Held {
  count: number
  bytes: number
}

const refusal = (
  reason: "answers_of_key" | "answers_of_node" | "bodies_of_key" | "bodies_of_node",
  message: string
): Crowded => {
  record(requestsRefused.with({ reason }))
  return new Refused({
    error: reason.endsWith("_of_key") ? "rate_limited" : "runtime_unavailable",
    message,
    retryAfterSeconds: 1
  })
}

/** `now` in milliseconds, monotonic. */
export const makeRoom = (peers: ReadonlySet<Peer>, options: RoomOptions, now: () => number): Room["Service"] => {
  const answers = new Map<string, Held>()
  /** What counts for the node. */
  let unread = 0
  let lookedAt = -Infinity

  const look = () => {
    answers.clear()
    let all = 0
    for (const { keyId, response, socket, streaming } of peers) {
      if (response === undefined || streaming || keyId === undefined) continue
      const bytes = socket.writableLength
      if (bytes === 0) continue
      all += bytes
      const held = answers.get(keyId)
      if (held === undefined) answers.set(keyId, { count: 1, bytes })
      else {
        held.count++
        held.bytes += bytes
      }
    }
    unread = 0
    for (const { bytes } of answers.values()) unread += Math.min(bytes, options.shareBytes)
    record(answersUnread, all)
  }

  const refuse: Room["Service"]["refuse"] = (request, keyId) => {
    const at = now()
    if (at - lookedAt >= lookMs) {
      lookedAt = at
      look()
    }
    peerOf(socketOf(request))?.cameWith(keyId)
    if (unread === 0) return undefined
    const own = answers.get(keyId)
    if (own !== undefined && (own.count >= options.answersPerKey || own.bytes >= options.shareBytes)) {
      return refusal(
        "answers_of_key",
        "too many answers to this credential have not been read: read them, or close their connections"
      )
    }
    return unread >= options.answerBytes
      ? refusal("answers_of_node", "too many answers of this node have not been read; try again")
      : undefined
  }

  const bodies = new Map<string, Held>()
  let arrived = 0

  const body: Room["Service"]["body"] = (keyId) => {
    const own = bodies.get(keyId) ?? { count: 0, bytes: 0 }
    if (own.count >= options.bodiesPerKey)
      return refusal("bodies_of_key", `at most ${options.bodiesPerKey} bodies of one credential may be on their way`)
    bodies.set(keyId, own)
    own.count++
    let mine = 0
    return {
      grow: (bytes) => {
        mine += bytes
        own.bytes += bytes
        arrived += bytes
        record(bodiesUnfinished, arrived)
        if (own.bytes > options.shareBytes)
          return refusal(
            "bodies_of_key",
            "too much of this credential's bodies is on its way: send one after the other"
          )
        return arrived > options.bodyBytes
          ? refusal("bodies_of_node", "too many bodies are on their way to this node; try again")
          : undefined
      },
      done: () => {
        own.bytes -= mine
        arrived -= mine
        record(bodiesUnfinished, arrived)
        if (--own.count === 0) bodies.delete(keyId)
      }
    }
  }

  return { refuse, body }
}
