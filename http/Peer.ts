/**
 * One open connection: a request of it is answered before the next one begins.
 *
 * Node parses all that came in one read and starts every request that it finds: one packet can hold two thousand of
 * them. A peer therefore stands between Node's server and whoever handles its requests, and lets them begin one by one.
 *
 * P1. The handler of a request begins when the answer before it is with the kernel. Answers keep the order of requests.
 * P2. While requests wait, the socket is not read: those of one read (64 KiB) wait at most.
 * P3. The event loop turns between two requests of one read: others are served meanwhile.
 * P4. After `mostInRow` requests none of which has waited for the answer before it, the connection ends with that
 *     answer, which says so: a probe costs whoever asks nothing, and two thousand in a packet cost us as much as
 *     somebody's work. Where twice as many came, it ends without.
 *     So it does after a request that asks to upgrade it, which is answered as if it had not.
 * P5. Bytes that are no HTTP are refused behind the answers to what came before them.
 * P6. A body that comes with a request too many is not read where more than `unreadBytes` of it are left: the
 *     connection ends with the answer, and whoever sends has `partingMs` to read it. A client that keeps to no rate
 *     would have us read a hundred MB a second. Behind any answer Effect's server reads no more than 256 KiB, of a body
 *     in chunks too: where more are left, whoever sends has half a second.
 * P7. A connection on which one request at a time comes costs nothing of this.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** A client that pipelines asks again, by another connection, what was not answered (RFC 9112, section 9.3.2). */
const mostInRow = 100

const unreadBytes = 128 * 1024
const partingMs = 1_000

/** Why a connection is ended by its peer. */
export type CutReason = "pipelined" | "body_refused"

/** A request that Node has found, and what lets its handler begin. */
interface Found {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly begin: () => void
}

const peers = new WeakMap<object, Peer>()

/** The peer of a socket, or of a request's socket. */
export const peerOf = (socket: object): Peer | undefined => peers.get(socket)

/** Bytes of its body as its head announces them; undefined where only its end will tell. */
export const announcedBytes = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined

export class Peer {
  readonly socket: Socket
  readonly openedAt = performance.now()
  /** The credential of the request under way, once it is known to be good. */
  keyId: string | undefined
  /** The last good credential that came by it. */
  lastKeyId: string | undefined
  /** The request under way; it goes when it has arrived and was answered. */
  request: IncomingMessage | undefined
  /** The answer that is not finished yet. */
  response: ServerResponse | undefined
  /** How many bytes of which answer the kernel had not taken, and since when it has been as many. Monotonic ms. */
  untaken: { readonly response: ServerResponse; readonly bytes: number; readonly since: number } | undefined
  /** The answer is an event stream, which has its own rule for readers that stall. */
  streaming = false
  private readonly onCut: (why: CutReason) => void
  /** Requests that wait for the answer before them. */
  private readonly line: Array<Found> = []
  /** Requests of which each came before the answer to the one before it. */
  private inRow = 0
  /** What is refused behind all answers (P5). */
  private refuse: (() => void) | undefined
  /** Bytes that had been read when the request under way began. */
  private readBefore = 0

  /** `onCut` is called when P4 or P6 ends it. */
  constructor(socket: Socket, onCut: (why: CutReason) => void) {
    this.socket = socket
    this.onCut = onCut
    // Node has sockets read again whenever it has found a request without a body.
    socket.on("resume", () => {
      if (this.isHeld) this.hold()
    })
    peers.set(socket, this)
  }

  /** Node has found a request: it begins, or waits for the answers before it. */
  found(next: Found) {
    if (this.socket.destroyed) return
    this.inRow = this.isIdle && this.inRow < mostInRow ? 1 : this.inRow + 1
    if (this.inRow === mostInRow) this.onCut("pipelined")
    // Node's parser loses what came in one read behind a request that would have its connection upgraded.
    if (next.request.headers.upgrade !== undefined) this.inRow = Math.max(this.inRow, mostInRow)
    if (this.inRow === mostInRow) next.response.shouldKeepAlive = false
    // Behind its last request nothing begins; Node keeps what it has found until the connection ends.
    if (this.inRow > 2 * mostInRow) this.socket.destroy()
    if (this.inRow > mostInRow) return
    if (this.response === undefined && this.line.length === 0) return this.start(next)
    this.line.push(next)
    this.hold()
  }

  /** What came on it is no HTTP: `refuse` ends it, behind the answers to what came before (P5). */
  garbled(refuse: () => void) {
    const last = this.line.at(-1)
    // A request whose own body is garbled has the refusal for its answer.
    if (last?.request.complete === false) this.line.pop()
    if (last === undefined && (this.response === undefined || this.receiving)) return refuse()
    this.refuse = refuse
    this.hold()
  }

  /** Its request came with that credential, which is good. */
  cameWith(keyId: string) {
    this.keyId = keyId
    this.lastKeyId = keyId
  }

  /** Nothing is under way on it and nothing waits, a head that has not ended aside. */
  get isIdle() {
    return this.response === undefined && !this.receiving && this.line.length === 0
  }

  /** Whether it is not to be read now. */
  private get isHeld() {
    return this.line.length > 0 || this.refuse !== undefined
  }

  /** Whether its request's body is still on its way. */
  get receiving() {
    return this.request !== undefined && !this.request.complete
  }

  /** P6: its request is one too many, with a body of which too much is left. */
  private get isUnread() {
    const { request, response, socket } = this
    if (request?.complete !== false || response?.headersSent !== true || response.statusCode !== 429) return false
    return (announcedBytes(request) ?? 0) - (socket.bytesRead - this.readBefore) > unreadBytes
  }

  private start({ begin, request, response }: Found) {
    this.request = request
    this.response = response
    this.keyId = undefined
    this.streaming = false
    this.readBefore = this.socket.bytesRead
    response.on("close", this.answered)
    begin()
  }

  private readonly answered = () => {
    const isUnread = this.isUnread
    this.response = undefined
    if (isUnread) return this.part()
    if (this.request?.complete === true) this.request = undefined
    if (this.line.length > 0) setImmediate(this.turn)
    else this.refuse?.()
  }

  private readonly turn = () => {
    if (this.socket.destroyed) return
    const next = this.line.shift()
    if (next === undefined) return this.refuse?.()
    this.start(next)
    if (!this.isHeld) this.socket.emit("resume")
  }

  /**
   * Node's server reads its sockets past their streams. It stops and goes on by what they say, whichever way the stream
   * flows.
   */
  private hold() {
    this.socket.emit("pause")
  }

  /** P6. Closed at once, the connection would be reset before the answer is read. */
  private part() {
    // Whoever has left, or was cut for another reason, needs no time to read.
    if (this.socket.destroyed) return
    this.onCut("body_refused")
    // Node's server gives up its socket's bytes to whoever listens.
    this.socket.on("data", () => undefined)
    this.socket.removeAllListeners("data")
    this.socket.pause()
    this.socket.end()
    setTimeout(() => this.socket.destroy(), partingMs).unref()
  }
}
