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
 *     somebody's work. Where more than twice as many have come before that answer is out, it ends at once, and what
 *     else its read holds is not begun. A request that asks to upgrade its connection is answered as if it had not, and
 *     that answer is the last as well.
 * P5. Bytes that are no HTTP are refused behind the answers to what came before them.
 * P6. A body that comes with a request too many is not read where more than `unreadBytes` of it are left, those that
 *     came with its head included: the connection ends with the answer, and whoever sends has `partingMs` to read it. A
 *     client that keeps to no rate would have us read a hundred MB a second. Behind any answer Effect's server reads no
 *     more than 256 KiB, of a body in chunks too: where more are left, whoever sends has half a second.
 * P7. Requests that wait take memory before anybody knows whose they are. Those of all connections together weigh as
 *     much as `mostWaiting` of them; the connection that brings one more ends.
 * P8. A connection on which one request at a time comes costs nothing of this.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** A client that pipelines asks again, by another connection, what was not answered (RFC 9112, section 9.3.2). */
const mostInRow = 100

/** Some 30 MB, at 3 KB each. */
const mostWaiting = 10_000

/** Of bodies in chunks one read holds ten thousand pieces: a connection on which any waits counts as so many more. */
const chunkedWeight = 500

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

/** What waits on all connections of a listener, by weight (P7). */
export interface LineWeight {
  weight: number
}

/** The peer of a socket, or of a request's socket. */
export const peerOf = (socket: object): Peer | undefined => peers.get(socket)

/** Bytes of its body as its head announces them; undefined where only its end will tell. */
export const announcedBytes = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined

const isChunked = ({ request }: Found) => announcedBytes(request) === undefined

/**
 * Node still parses what else the read holds, and makes no answers for it: those to eighteen hundred requests of one
 * read took up to a tenth of a second of the event loop. Node has no public way to stop its parser.
 */
const findNoMore = (socket: Socket) => {
  const parser: unknown = "parser" in socket ? socket.parser : undefined
  if (typeof parser === "object" && parser !== null && "onIncoming" in parser) parser.onIncoming = () => 0
}

export class Peer {
  readonly socket: Socket
  readonly openedAt = performance.now()
  /** The credential of the request under way, once it is known to be good. */
  keyId: string | undefined
  /** The last good credential that came by it. */
  lastKeyId: string | undefined
  /** The request under way; the last one where its body ended after its answer. */
  request: IncomingMessage | undefined
  /** The answer that is not finished yet. */
  response: ServerResponse | undefined
  /** How much the kernel had taken when which answer was looked at, and since when it is no more. Monotonic ms. */
  taken: { readonly response: ServerResponse; readonly bytes: number; readonly since: number } | undefined
  /** The answer is an event stream, which has its own rule for readers that stall. */
  streaming = false
  private readonly onCut: (why: CutReason) => void
  private readonly waiting: LineWeight
  /** Requests that wait for the answer before them. */
  private readonly line: Array<Found> = []
  /** What they count of what waits on all connections (P7). */
  private weight = 0
  /** Requests of which each came before the answer to the one before it. */
  private inRow = 0
  /** What is refused behind all answers (P5). */
  private refuse: (() => void) | undefined
  /** Bytes that had been read when the request under way began, with what its read brought of its body. */
  private readBefore = 0

  /** `onCut` is called when P4, P6 or P7 ends it; not for a request that asks for an upgrade. */
  constructor(socket: Socket, waiting: LineWeight, onCut: (why: CutReason) => void) {
    this.socket = socket
    this.waiting = waiting
    this.onCut = onCut
    // Node has sockets read again whenever it has found a request without a body. Its own listener comes first, as
    // Node's listener of connections does: this one undoes it.
    socket.on("resume", () => {
      if (this.isHeld) this.hold()
    })
    socket.once("close", () => {
      this.line.length = 0
      this.weigh()
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
    if (this.inRow > 2 * mostInRow) this.endAtOnce()
    if (this.inRow > mostInRow) return
    if (this.response === undefined && this.line.length === 0) return this.start(next)
    this.line.push(next)
    this.weigh()
    this.hold()
    if (this.waiting.weight <= mostWaiting) return
    if (this.inRow < mostInRow) this.onCut("pipelined")
    this.endAtOnce()
  }

  /** P4, P7: without the answers that are left. */
  private endAtOnce() {
    findNoMore(this.socket)
    this.socket.destroy()
  }

  /** P7. */
  private weigh() {
    const weight = this.line.length + (this.line.some(isChunked) ? chunkedWeight : 0)
    this.waiting.weight += weight - this.weight
    this.weight = weight
  }

  /** What came on it is no HTTP: `refuse` ends it, behind the answers to what came before (P5). */
  garbled(refuse: () => void) {
    const last = this.line.at(-1)
    // A request whose own body is garbled has the refusal for its answer.
    if (last?.request.complete === false) this.line.pop()
    this.weigh()
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
  get isHeld() {
    return this.line.length > 0 || this.refuse !== undefined
  }

  /** Whether its request's body is still on its way. */
  get receiving() {
    return this.request !== undefined && !this.request.complete
  }

  /** P6: its request is one too many, with a body of which too much is left. */
  private get isTooLong() {
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
    const { isTooLong } = this
    this.response = undefined
    if (isTooLong) return this.part()
    if (this.request?.complete === true) this.request = undefined
    if (this.line.length > 0) setImmediate(this.turn)
    else this.refuseRest()
  }

  private readonly turn = () => {
    if (this.socket.destroyed) return
    const next = this.line.shift()
    this.weigh()
    if (next === undefined) return this.refuseRest()
    this.start(next)
    if (!this.isHeld) this.socket.emit("resume")
  }

  /** P5, behind all answers. */
  private refuseRest() {
    if (this.refuse === undefined) return
    this.refuse()
    this.leave()
  }

  /**
   * Node's server reads the socket's handle itself, past the stream. The events `pause` and `resume` stop and start
   * that reading; the stream's methods of these names would change what the stream does as well.
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
    this.leave()
  }

  /** The end of a connection that is not read: nobody would see that the client has left. */
  private leave() {
    setTimeout(() => this.socket.destroy(), partingMs).unref()
  }
}
