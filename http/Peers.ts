/**
 * All open connections of the listener: how many there are, how fast they send, and whether they take their answers.
 *
 * C1. Above `connections` those on which nothing is under way make room: whoever has the most of them loses the oldest,
 *     and all that came with no good credential are one. Where there are none, the new one is closed at once.
 * C2. A connection ends when the kernel has taken nothing of its answer for `answerMs`, however much more is sent on
 *     it, or when its first request does not come within `idleMs`. Behind an answer the next request has the
 *     `keepAliveTimeout` of listen.ts. Streams keep their own rule. The kernel takes bytes in lumps of some 40 KB: a
 *     reader of 1 KiB a second is seen every 40 s.
 * C3. A connection ends when nothing of its body comes for `silenceMs`, or less than `windowBytes` in `windowMs`: with
 *     408 if nothing was answered yet. Time in which we do not read what came does not count.
 * C4. No request costs a timer: Node's own one for each socket, and one sweep over open connections.
 */
import { IncomingMessage, type Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { connectionsCut, connectionsOpen, connectionsRefused, record } from "../src/telemetry/metrics.ts"
import { announcedBytes, Peer, peerOf, type LineWeight } from "./Peer.ts"

export interface Pace {
  readonly connections: number
  readonly answerMs: number
  readonly idleMs: number
  readonly silenceMs: number
  readonly windowMs: number
  readonly windowBytes: number
  /** Milliseconds between looks at answers and bodies. */
  readonly sweepMs: number
  /** The metrics of connections are of this listener: a node may have a second one, for its metrics. */
  readonly isCounted: boolean
}

/** Half a KiB a second: a client that sends one has time for a pause. */
export const paceDefaults: Pace = {
  connections: 10_000,
  answerMs: 120_000,
  idleMs: 30_000,
  silenceMs: 10_000,
  windowMs: 10_000,
  windowBytes: 5 * 1024,
  sweepMs: 1_000,
  isCounted: true
}

/** What a body has sent, and since when that is looked at. */
interface Arrival {
  readonly request: IncomingMessage
  heardAt: number
  heard: number
  windowAt: number
  window: number
}

/** Events of Node's server with which a request begins. */
const startsRequest: ReadonlySet<string> = new Set(["request", "checkContinue"])

/**
 * Bytes written to the socket that the kernel has taken. Of one long write `writableLength` tells nothing before its
 * end; the handle knows, and Node's own timers of sockets go by it. What waits tells less: it may be as much as it was
 * long ago, though all of that was taken.
 */
const takenOf = (socket: Socket) => {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined
  if (typeof handle !== "object" || handle === null || !("writeQueueSize" in handle && "bytesWritten" in handle))
    return socket.bytesWritten - socket.writableLength
  return Number(handle.bytesWritten) - Number(handle.writeQueueSize)
}

export class Peers {
  readonly open = new Set<Peer>()
  private readonly arriving = new Map<Peer, Arrival | undefined>()
  private readonly pace: Pace
  private readonly tooSlow: (socket: Socket) => void
  private readonly waiting: LineWeight = { weight: 0 }

  /** `tooSlow` answers a body that does not come (C3). */
  constructor(pace: Pace, tooSlow: (socket: Socket) => void) {
    this.pace = pace
    this.tooSlow = tooSlow
  }

  /** Attaches to a server that does not listen yet. */
  attend(server: Server) {
    // With room for those that are being closed.
    server.maxConnections = this.pace.connections + this.batch
    server.on("drop", () => this.countRefused())
    server.on("connection", (socket: Socket) => this.welcome(socket))
    // What is emitted goes to all listeners at once: nobody but the emitter can put it off.
    const emit = server.emit.bind(server)
    Object.defineProperty(server, "emit", {
      value: (event: string, ...details: ReadonlyArray<unknown>) => {
        const [request, response] = details
        if (!startsRequest.has(event) || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse))
          return emit(event, ...details)
        this.found(request, response, () => emit(event, ...details))
        return true
      }
    })
    // Whoever waits for news, and has nothing to read, may wait: answers have the sweep.
    server.setTimeout(this.pace.idleMs, (socket: Socket) => {
      if (peerOf(socket)?.response === undefined) socket.destroy()
    })
    const timer = setInterval(() => this.sweep(performance.now()), this.pace.sweepMs).unref()
    server.on("close", () => clearInterval(timer))
  }

  private found(request: IncomingMessage, response: ServerResponse, handle: () => void) {
    const peer = peerOf(request.socket)
    if (peer === undefined) return handle()
    const begin = () => {
      // Whether the body came with its head is known at the next sweep at the latest.
      if (announcedBytes(request) !== 0) this.arriving.set(peer, undefined)
      handle()
    }
    peer.found({ request, response, begin })
  }

  /** C1: how many make room at once, so that all are looked through once for many new ones. */
  private get batch() {
    return Math.ceil(this.pace.connections / 100)
  }

  /** C1: closes idle connections, `batch` of them at once; whether there were any. */
  private evictIdle() {
    const idle = new Map<string, Array<Peer>>()
    let most: Array<Peer> = []
    for (const peer of this.open) {
      if (!peer.isIdle) continue
      const { lastKeyId = "" } = peer
      const own = idle.get(lastKeyId) ?? []
      if (own.push(peer) === 1) idle.set(lastKeyId, own)
      if (own.length > most.length) most = own
    }
    for (const peer of most.slice(0, this.batch)) {
      this.open.delete(peer)
      this.countCut("idle")
      peer.socket.destroy()
    }
    return most.length > 0
  }

  private countOpen() {
    if (this.pace.isCounted) record(connectionsOpen, this.open.size)
  }

  private countRefused() {
    if (this.pace.isCounted) record(connectionsRefused)
  }

  private countCut(reason: string) {
    if (this.pace.isCounted) record(connectionsCut.with({ reason }))
  }

  private welcome(socket: Socket) {
    if (this.open.size >= this.pace.connections && !this.evictIdle()) {
      this.countRefused()
      socket.destroy()
      return
    }
    const peer = new Peer(socket, this.waiting, (reason) => this.countCut(reason))
    this.open.add(peer)
    this.countOpen()
    socket.once("close", () => {
      this.open.delete(peer)
      this.arriving.delete(peer)
      this.countOpen()
    })
  }

  private sweep(now: number) {
    for (const peer of this.open) this.lookAtAnswer(peer, now)
    for (const [peer, seen] of this.arriving) this.lookAtBody(peer, seen, now)
  }

  /** C2. What comes on a connection starts Node's timer of its socket anew, so that it tells nothing of the answer. */
  private lookAtAnswer(peer: Peer, now: number) {
    const { response, socket } = peer
    if (response === undefined || peer.streaming || socket.writableLength === 0) return
    const bytes = takenOf(socket)
    if (peer.taken?.response !== response || peer.taken.bytes !== bytes) {
      peer.taken = { response, bytes, since: now }
    } else if (now - peer.taken.since >= this.pace.answerMs) this.cut(peer, "unread")
  }

  private cut(peer: Peer, reason: "unread" | "slow_body") {
    this.arriving.delete(peer)
    this.countCut(reason)
    if (reason === "unread" || peer.response === undefined || peer.response.headersSent) peer.socket.destroy()
    else this.tooSlow(peer.socket)
  }

  /** C3. */
  private lookAtBody(peer: Peer, seen: Arrival | undefined, now: number) {
    const { request, socket } = peer
    if (request === undefined || request.complete || socket.destroyed) {
      this.arriving.delete(peer)
      return
    }
    const heard = socket.bytesRead
    // What came and is not read yet is our delay.
    const isOurs = request.readableLength > 0 || socket.isPaused()
    if (seen?.request !== request || isOurs) {
      this.arriving.set(peer, { request, heardAt: now, heard, windowAt: now, window: heard })
      return
    }
    if (heard !== seen.heard) {
      seen.heardAt = now
      seen.heard = heard
    }
    const over = now - seen.windowAt >= this.pace.windowMs
    if (now - seen.heardAt >= this.pace.silenceMs || (over && heard - seen.window < this.pace.windowBytes)) {
      this.cut(peer, "slow_body")
    } else if (over) {
      seen.windowAt = now
      seen.window = heard
    }
  }
}
