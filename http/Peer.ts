/**
 * One open connection: a request of it is answered before the next one is read.
 *
 * Node parses all that came in one read at once and starts every request that it finds: one packet can hold
 * two thousand of them. A peer therefore stands between the socket and Node's parser, and passes on piece by piece.
 *
 * P1. The handler of a request starts when the answer before it is with the kernel. Answers keep the order of requests.
 * P2. A piece is at most one head, or a body up to its end: of the next request not a byte is parsed.
 * P3. While bytes are held back the socket is not read; at most `heldBytes` of them are held.
 * P4. The event loop turns between two requests of one packet: others are served meanwhile.
 * P5. After `mostInRow` requests none of which has waited for the answer before it, the connection ends with that
 *     answer, which says so: a probe costs whoever asks nothing, and two thousand in a packet cost us as much as
 *     somebody's work.
 * P6. A body that comes with a request too many is not read where more than `unreadBytes` of it are left, nor parsed
 *     what came of it with the head: the connection ends with the answer, and whoever sends has `partingMs` to read it.
 *     A client that keeps to no rate would have us read a hundred MB a second. Behind any answer Effect's server reads
 *     no more than 256 KiB, of a body in chunks too: where more are left, whoever sends has half a second.
 * P7. A connection on which one request at a time comes costs nothing of this but a search for the end of the head.
 */
import type { NonSharedBuffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * A peer that sends more than this ahead of its answers is cut: it takes a client that reads nothing and goes on
 * sending.
 */
const heldBytes = 256 * 1024

/** A client that pipelines asks again, by another connection, what was not answered (RFC 9112, section 9.3.2). */
const mostInRow = 100

const unreadBytes = 128 * 1024
const partingMs = 1_000

/** Why a connection is ended by its peer. */
export type CutReason = "pipelined" | "body_refused"

/** Pieces passed on before the event loop turns. */
const piecesAtOnce = 32

const endOfHead = "\r\n\r\n"

const peers = new WeakMap<object, Peer>()

/** The peer of a socket, or of a request's socket. */
export const peerOf = (socket: object): Peer | undefined => peers.get(socket)

export class Peer {
  readonly socket: Socket
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
  private readonly parse: (piece: NonSharedBuffer) => void
  private readonly onCut: (why: CutReason) => void
  private held: NonSharedBuffer | undefined
  private turning = false
  /** Requests of which each came before the answer to the one before it. */
  private inRow = 0
  /** The request under way is its last: what comes behind it is read, so that the end is no reset, and let go. */
  private ending = false
  /** Bytes of the body that are still to come, where its length was announced. */
  private bodyLeft: number | undefined
  /** The last bytes of a piece that may hold the beginning of `endOfHead`. */
  private tail = ""

  /**
   * Takes the socket over from Node's server, which has just set its parser up on it. `onCut` is called when P3, P5 or
   * P6 ends it.
   */
  constructor(socket: Socket, onCut: (why: CutReason) => void) {
    const [parse] = socket.listeners("data")
    if (parse === undefined) throw new Error("Node's HTTP server no longer listens to its sockets' data")
    this.socket = socket
    this.parse = (piece) => {
      parse.call(socket, piece)
    }
    this.onCut = onCut
    socket.removeAllListeners("data")
    // Node stops reading the socket behind JavaScript's back as soon as anybody listens.
    socket.on("data", (bytes) => {
      // Node refuses encodings on these sockets.
      if (typeof bytes !== "string") this.take(bytes)
    })
    peers.set(socket, this)
  }

  /** Node has found a request, and starts it now. */
  start(request: IncomingMessage, response: ServerResponse) {
    this.request = request
    this.response = response
    this.keyId = undefined
    this.streaming = false
    this.tail = ""
    this.bodyLeft =
      request.headers["transfer-encoding"] === undefined ? Number(request.headers["content-length"] ?? 0) : undefined
    response.on("close", this.answered)
    this.inRow++
    if (this.inRow < mostInRow) return
    this.ending = true
    this.onCut("pipelined")
    response.shouldKeepAlive = false
  }

  /** Its request came with that credential, which is good. */
  cameWith(keyId: string) {
    this.keyId = keyId
    this.lastKeyId = keyId
  }

  /** Nothing is under way on it and nothing waits, a head that has not ended aside. */
  get isIdle() {
    return this.request === undefined && this.response === undefined && this.held === undefined
  }

  /** Whether its request's body is still on its way. */
  get receiving() {
    return this.request !== undefined && !this.request.complete
  }

  /** Whether its request has a body at all, or may have. */
  get announcesBody() {
    return this.bodyLeft !== 0
  }

  /** P6: its request is one too many, with a body of which too much is left. */
  private get isUnread() {
    return (
      this.response?.headersSent === true &&
      this.response.statusCode === 429 &&
      this.receiving &&
      (this.bodyLeft ?? 0) > unreadBytes
    )
  }

  private readonly answered = () => {
    const isUnread = this.isUnread
    this.response = undefined
    if (isUnread) return this.part()
    if (this.request?.complete === true) this.request = undefined
    if (this.held !== undefined) this.turn()
  }

  /** P6. Closed at once, the connection would be reset before the answer is read. */
  private part() {
    // Whoever has left, or was cut for another reason, needs no time to read.
    if (this.socket.destroyed) return
    this.onCut("body_refused")
    this.socket.removeAllListeners("data")
    this.socket.pause()
    this.socket.end()
    setTimeout(() => this.socket.destroy(), partingMs).unref()
  }

  private take(bytes: NonSharedBuffer) {
    // Node's own reading of bodies resumes the socket now and then.
    if (this.held === undefined) {
      if (this.isIdle) this.inRow = 0
      this.pass(bytes)
    } else this.hold(Buffer.concat([this.held, bytes]))
  }

  private pass(bytes: NonSharedBuffer) {
    let rest = bytes
    for (let pieces = 0; rest.length > 0 && !this.socket.destroyed; pieces++) {
      if (this.ending && !this.receiving) return
      if (this.isUnread) {
        this.socket.pause()
        return
      }
      if (this.response !== undefined && !this.receiving) return this.hold(rest)
      if (pieces === piecesAtOnce) {
        this.hold(rest)
        return this.turn()
      }
      const end = this.receiving && this.bodyLeft !== undefined ? this.endOfBody(rest) : this.endOfLines(rest)
      const piece = end === rest.length ? rest : rest.subarray(0, end)
      rest = rest.subarray(end)
      this.parse(piece)
    }
    // A request whose body ended after its answer.
    if (this.response === undefined && !this.receiving) this.request = undefined
  }

  private hold(bytes: NonSharedBuffer) {
    this.held = bytes
    this.socket.pause()
    if (bytes.length > heldBytes) {
      this.onCut("pipelined")
      this.socket.destroy()
    }
  }

  /** Goes on with what was held, once the event loop has turned (P4). */
  private turn() {
    if (this.turning) return
    this.turning = true
    setImmediate(() => {
      this.turning = false
      const bytes = this.held
      if (bytes === undefined || this.socket.destroyed) return
      this.held = undefined
      this.pass(bytes)
      if (this.held === undefined) this.socket.resume()
    })
  }

  private endOfBody(bytes: NonSharedBuffer) {
    const left = this.bodyLeft ?? 0
    if (left === 0 || left >= bytes.length) {
      this.bodyLeft = Math.max(0, left - bytes.length)
      return bytes.length
    }
    this.bodyLeft = 0
    return left
  }

  /** Where a head ends, or a body in chunks may: after an empty line, even where that began in the piece before. */
  private endOfLines(bytes: NonSharedBuffer) {
    if (this.tail !== "") {
      const at = (this.tail + bytes.toString("latin1", 0, 3)).indexOf(endOfHead)
      if (at !== -1) {
        const end = at + endOfHead.length - this.tail.length
        this.tail = ""
        return end
      }
    }
    const at = bytes.indexOf(endOfHead, 0, "latin1")
    if (at !== -1) {
      this.tail = ""
      return at + endOfHead.length
    }
    this.tail = (this.tail + bytes.toString("latin1", Math.max(0, bytes.length - 3))).slice(-3)
    return bytes.length
  }
}
