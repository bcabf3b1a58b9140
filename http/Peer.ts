/**
 * One open connection: a request of it is answered before the next one begins.
 *
 * Node parses all that came in one read at once and starts every request that it finds: one packet can hold two
 * thousand of them. A peer lets them begin one after the other. It does not read the socket itself: bytes that
 * JavaScript sees cost a buffer for each read, and most connections have one request at a time.
 *
 * P1. The handler of a request starts when the answer before it is with the kernel. Answers keep the order of requests.
 * P2. While requests wait the socket is not read: at most one read of it, 64 KiB, is parsed ahead.
 * P3. A request that waits may have a body, and whoever reads the one before it makes Node read on: above `aheadBytes`
 *     the connection is cut.
 * P4. The event loop turns between two requests of one packet: others are served meanwhile.
 * P5. After `mostInRow` requests none of which has waited for the answer before it, the connection ends with that
 *     answer, which says so: a probe costs whoever asks nothing, and two thousand in a packet cost us as much as
 *     somebody's work.
 * P6. A body that comes with a request too many is not read where more than `unreadBytes` of it are left, what came
 *     with its head aside: the connection ends with the answer, and whoever sends has `partingMs` to read it. A client
 *     that keeps to no rate would have us read a hundred MB a second.
 * P7. Bytes that are no HTTP end the connection after the answers to what came before them.
 * P8. Nothing is upgraded, but Node's parser drops what came in one read behind a request that asks for it. Such a
 *     request ends its connection, unless it is the first one and nothing can be behind it: clients that try HTTP/2
 *     send it so, and keep the connection.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * A peer that sends more than this ahead of its answers is cut: it takes a client that reads nothing and goes on
 * sending.
 */
const aheadBytes = 256 * 1024

/** A client that pipelines asks again, by another connection, what was not answered (RFC 9112, section 9.3.2). */
const mostInRow = 100

const unreadBytes = 128 * 1024
const partingMs = 1_000

/** Why a connection is ended by its peer. */
export type CutReason = "pipelined" | "body_refused"

/** A request that has come, with the answer that is to be given. */
export interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Hands it to whoever answers. */
  readonly begin: () => void
}

const peers = new WeakMap<object, Peer>()

/** The peer of a socket, or of a request's socket. */
export const peerOf = (socket: object): Peer | undefined => peers.get(socket)

/**
 * Of the read that Node's parser is at, no further request is parsed but the next one (P5): what is answered to its head
 * ends the parser's work, as for an upgrade. A Node that asks elsewhere parses the rest for nothing; a test sees it.
 */
const stopParsing = (socket: Socket) => {
  const parser: unknown = Reflect.get(socket, "parser")
  if (typeof parser === "object" && parser !== null) Reflect.set(parser, "onIncoming", () => 2)
}

/** Whether a request without spaces that it may leave out is as long as what was read, but for one in each header. */
const fills = ({ headers, httpVersion, method = "", rawHeaders, url = "" }: IncomingMessage, bytesRead: number) => {
  const lines = rawHeaders.reduce((sum, { length }) => sum + length, 0) + (rawHeaders.length / 2) * ":\r\n".length
  const head = `${method} ${url} HTTP/${httpVersion}\r\n\r\n`.length + lines
  return (
    headers["transfer-encoding"] === undefined &&
    bytesRead <= head + rawHeaders.length / 2 + Number(headers["content-length"] ?? 0)
  )
}

export class Peer {
  readonly socket: Socket
  /** When nothing was seen to move on it, last. Milliseconds, monotonic. */
  quietAt = -Infinity
  /** Since when nothing has moved, as far as looks tell. */
  quietSince = -Infinity
  readonly openedAt = performance.now()
  /** The credential of the request under way, once it is known to be good. */
  keyId: string | undefined
  /** The last good credential that came by it. */
  lastKeyId: string | undefined
  /** The request under way; it goes when it has arrived and was answered. */
  request: IncomingMessage | undefined
  /** The answer that is not finished yet. */
  response: ServerResponse | undefined
  /** The answer is an event stream, which has its own rule for readers that stall. */
  streaming = false
  private readonly onCut: (why: CutReason) => void
  /** Those that were parsed ahead. */
  private waiting: Array<HttpExchange> = []
  /** Bytes that the socket had read when the first of them began to wait. */
  private waitsFrom = 0
  /** Requests of which each came before the answer to the one before it. */
  private inRow = 0
  /** Nothing has come on it yet. */
  private isNew = true
  /** The last request has come: what comes behind it is let go. */
  private ending = false
  /** What is done when everything before it is answered (P7). */
  private last: (() => void) | undefined
  /** Where the end of a long body is, in bytes that the socket will have read. */
  private bodyEnds: number | undefined

  /** `onCut` is called when P3, P5 or P6 ends the connection. */
  constructor(socket: Socket, onCut: (why: CutReason) => void) {
    this.socket = socket
    this.onCut = onCut
    peers.set(socket, this)
  }

  /** Node has found a request: it begins at once, or when those before it are answered. */
  arrived(exchange: HttpExchange) {
    if (this.ending) return
    if (this.isIdle) this.inRow = 0
    const { request, response } = exchange
    if (++this.inRow === mostInRow) {
      this.end(response)
      this.onCut("pipelined")
    } else if (request.headers.upgrade !== undefined && !(this.isNew && fills(request, this.socket.bytesRead)))
      this.end(response)
    this.isNew = false
    if (this.response === undefined && this.waiting.length === 0) this.start(exchange)
    else this.wait(exchange)
  }

  /** The connection ends with that answer, which says so. */
  private end(response: ServerResponse) {
    this.ending = true
    response.shouldKeepAlive = false
    stopParsing(this.socket)
  }

  private wait(exchange: HttpExchange) {
    if (this.waiting.push(exchange) === 1) this.waitsFrom = this.socket.bytesRead
    else if (this.socket.bytesRead - this.waitsFrom > aheadBytes) {
      this.onCut("pipelined")
      this.socket.destroy()
    }
    // Node reads on at the end of each request that it parses: whoever stops the socket does it after that.
    if (this.waiting.length === 1 || this.socket.isPaused()) process.nextTick(this.stop)
  }

  private readonly stop = () => {
    if (this.waiting.length > 0) this.socket.pause()
  }

  private start({ begin, request, response }: HttpExchange) {
    this.request = request
    this.response = response
    this.keyId = undefined
    this.streaming = false
    const { headers } = request
    const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : 0
    this.bodyEnds = length > unreadBytes ? this.socket.bytesRead + length : undefined
    response.on("close", this.answered)
    if (this.ending && !response.shouldKeepAlive) this.letGo(request)
    begin()
  }

  /** Its request came with that credential, which is good. */
  cameWith(keyId: string) {
    this.keyId = keyId
    this.lastKeyId = keyId
  }

  /** Nothing is under way on it, a head that has not ended aside. */
  get isIdle() {
    return this.response === undefined && !this.receiving
  }

  /** Whether its request's body is still on its way. */
  get receiving() {
    return this.request !== undefined && !this.request.complete
  }

  private readonly answered = () => {
    const isTooMany = this.response?.statusCode === 429
    this.response = undefined
    if (isTooMany && this.receiving && (this.bodyEnds ?? 0) - this.socket.bytesRead > unreadBytes) return this.part()
    if (this.request?.complete === true) this.request = undefined
    if (this.waiting.length > 0) setImmediate(this.next)
    else this.last?.()
  }

  /** Goes on with what waits, once the event loop has turned (P4). */
  private readonly next = () => {
    const exchange = this.waiting.shift()
    if (exchange === undefined || this.socket.destroyed) return
    const isLast = this.waiting.length === 0
    if (isLast && this.last !== undefined && !exchange.request.complete) return this.last()
    this.start(exchange)
    if (isLast && this.last === undefined) this.socket.resume()
  }

  /** P5, P8. What comes behind the last request is read, so that the end is no reset, and not looked at. */
  private letGo(request: IncomingMessage) {
    const { socket } = this
    const drain = () => {
      socket
        .removeAllListeners("data")
        .on("data", () => {})
        .resume()
    }
    if (request.complete) drain()
    else request.once("close", drain)
  }

  /** P6. Closed at once, the connection would be reset before the answer is read. */
  private part() {
    this.onCut("body_refused")
    this.socket.pause()
    this.socket.end()
    setTimeout(() => this.socket.destroy(), partingMs).unref()
  }

  /** P7: what comes can't be read. `refuse` is called when all before it is answered, and ends the connection. */
  broken(refuse: () => void) {
    if (this.ending) return
    this.ending = true
    this.last = refuse
    this.socket.pause()
    if (this.waiting.length === 0 && (this.response === undefined || this.receiving)) refuse()
  }
}
