/**
 * The body of a request: read once, held to its limits, parsed once.
 *
 * B1. At most 1 MiB, or what its endpoint takes, whether announced or not; what is over is not buffered.
 * B2. UTF-8, JSON, at most 64 levels deep, and 10,000 fields in an object: all checked before the parser and the schema
 *     see it.
 * B3. A request that announces no body has none (RFC 9112, 6.3), and its stream is not read: the listener opens none
 *     for it.
 * B4. A body that does not come in one piece takes room while it comes (Room.ts).
 * B5. `\u0000` and lone surrogates in strings are legal JSON: they pass, and schemas decide.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Schema } from "effect"
import { Headers, type HttpServerRequest } from "effect/http"
import { deeperThan, widerThan } from "../src/domain/depth.ts"
import { mapErrorNow, flatMapNow, isDone } from "../src/now.ts"
import { limits } from "../src/domain/limits.ts"
import { everyProblem } from "../src/domain/strict.ts"
import { isRefused, Refused } from "./errors.ts"
import { header } from "./headers.ts"
import type { Arriving, Room } from "./Room.ts"
import { badJson, refuseBody } from "./badInput.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

const tooLarge = (most: number) =>
  new Refused({ error: "payload_too_large", message: `a body is at most ${most} bytes` })
const cut = () => new Refused({ error: "invalid_request", message: "the body ended early", code: "truncated_body" })

export const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i

/** A body that says it is something else than JSON. One that says nothing is taken for JSON. */
const refuseType = (type: string | undefined, encoding: string | undefined) =>
  type !== undefined && !jsonType.test(type)
    ? new Refused({ error: "unsupported_media_type", message: "send the body as application/json" })
    : encoding !== undefined && encoding !== "identity"
      ? new Refused({ error: "unsupported_media_type", message: "send the body without a Content-Encoding" })
      : undefined

export type BodyRefusal = Refused<
  "invalid_request" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "runtime_unavailable"
>

/** Where a body that comes in pieces finds room, and on whose account. */
export interface Sender {
  readonly room: Room["Service"]
  readonly keyId: string
  /** Told the bytes that came of a body in chunks, whatever becomes of it: of others they are known before. */
  readonly took: (bytes: number) => void
}

export const checked = (bytes: Uint8Array): string | BodyRefusal => {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return badJson("not valid UTF-8")
  }
  if (deeperThan(text, limits.jsonDepth)) return badJson(`nested deeper than ${limits.jsonDepth} levels`)
  return widerThan(text, limits.jsonFields, limits.jsonDepth)
    ? badJson(`more than ${limits.jsonFields} fields in one object`)
    : text
}

const done = (text: string | BodyRefusal) => (typeof text === "string" ? Effect.succeed(text) : Effect.fail(text))

/** What a request without a body says of one. */
const isBodiless = (request: HttpServerRequest.HttpServerRequest) =>
  header(request, "transfer-encoding") === undefined && (header(request, "content-length") ?? "0") === "0"

/** Where the pieces of a body are kept until it is complete. */
interface Gathering {
  readonly add: (piece: Buffer) => void
  readonly whole: () => Buffer
}

/** Holds what has come and no more; at the end once more, as one. */
const inPieces = (): Gathering => {
  const pieces: Array<Buffer> = []
  return {
    add: (piece) => {
      pieces.push(piece)
    },
    whole: () => (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
}

/** Holds from the first piece on as much as was announced, and never twice: for few large bodies. */
const inOneBuffer = (announced: number): Gathering => {
  const whole = Buffer.allocUnsafeSlow(announced)
  let bytes = 0
  return {
    add: (piece) => {
      bytes += piece.copy(whole, bytes)
    },
    whole: () => whole.subarray(0, bytes)
  }
}

interface Reading<A> {
  /** Bytes. */
  readonly most: number
  /** A body that says its length is read into one buffer. */
  readonly isLarge?: boolean
  /** What becomes of the whole body. Called by Node's request: must not throw. */
  readonly then: (bytes: Buffer) => Effect.Effect<A, BodyRefusal>
}

/** The bytes of a body, straight from Node's request: of one packet this is a single event. */
export const readBytes = <A>(
  request: HttpServerRequest.HttpServerRequest,
  { keyId, room, took }: Sender,
  { isLarge = false, most, then }: Reading<A>
) =>
  Effect.callback<A, BodyRefusal>((resume) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    if (source.headers.expect !== undefined) NodeHttpServerRequest.toServerResponse(request).writeContinue()
    const announced = Number(source.headers["content-length"] ?? Number.NaN)
    let gathering: Gathering | undefined
    let bytes = 0
    let arriving: Arriving | undefined
    const over = () => {
      if (Number.isNaN(announced)) took(bytes)
      arriving?.done()
      arriving = undefined
    }
    const stop = () => {
      over()
      source.off("data", onData)
      source.off("end", onEnd)
      source.off("error", onCut)
      source.off("close", onCut)
    }
    const refuse = (refused: BodyRefusal) => {
      stop()
      source.pause()
      resume(Effect.fail(refused))
    }
    /** Nothing where the first piece is the whole body. */
    const crowded = (more: number) => {
      if (arriving === undefined) {
        if (bytes === announced) return undefined
        const found = room.body(keyId)
        if (isRefused(found)) return found
        arriving = found
      }
      return arriving.grow(more)
    }
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > most) return refuse(tooLarge(most))
      const refused = crowded(chunk.length)
      if (refused !== undefined) return refuse(refused)
      // The listener hands on no more than was announced.
      gathering ??= isLarge && bytes < announced && announced <= most ? inOneBuffer(announced) : inPieces()
      gathering.add(chunk)
    }
    let complete = false
    // What is complete has no more to say: its listeners go with it.
    const onEnd = () => {
      complete = true
      over()
      resume(then(gathering?.whole() ?? Buffer.alloc(0)))
    }
    const onCut = () => {
      if (complete) return
      stop()
      resume(Effect.fail(cut()))
    }
    source.on("data", onData)
    source.on("end", onEnd)
    source.on("error", onCut)
    source.on("close", onCut)
    return Effect.sync(stop)
  })

/**
 * Reads and checks the body, and leaves it on the request, so that whoever asks for its text
 * later, HttpApi or a raw handler, gets it without waiting. An empty body counts as `{}`.
 */
export const receive = (
  request: HttpServerRequest.HttpServerRequest,
  sender: Sender,
  most: number = limits.bodyBytes
): Effect.Effect<void, BodyRefusal> => {
  const refused = refuseType(header(request, "content-type"), header(request, "content-encoding"))
  if (refused !== undefined) return Effect.fail(refused)
  if (Number(header(request, "content-length")) > most) return Effect.fail(tooLarge(most))
  const keep = (text: string) => {
    asJson(request)
    Object.defineProperty(request, "text", { value: Effect.succeed(text === "" ? "{}" : text) })
  }
  return isBodiless(request)
    ? Effect.sync(() => keep(""))
    : Effect.map(readBytes(request, sender, { most, then: (bytes) => done(checked(bytes)) }), keep)
}

/**
 * HttpApi picks its decoder by the exact type: whatever kind of JSON was sent (a merge patch, say) is JSON from here
 * on.
 */
const asJson = (request: HttpServerRequest.HttpServerRequest) => {
  const type = header(request, "content-type")
  if (type === undefined || /^application\/json\b/i.test(type)) return
  Object.defineProperty(request, "headers", { value: Headers.set(request.headers, "content-type", "application/json") })
}

const nothing = /^\s*(?:\{\s*\})?\s*$/

/** For endpoints that take no body: none, or an empty object. */
export const receiveNothing = (
  request: HttpServerRequest.HttpServerRequest,
  sender: Sender
): Effect.Effect<void, BodyRefusal> => {
  if (isBodiless(request)) return Effect.void
  return Effect.flatMap(
    Effect.flatMap(receive(request, sender), () => bodyTextOf(request)),
    (text) =>
      nothing.test(text)
        ? Effect.void
        : Effect.fail(
            new Refused({ error: "invalid_request", code: "unknown_field", message: "this endpoint takes no body" })
          )
  )
}

/** The text of a received body. Behind the gate it is there already. */
export const bodyTextOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string> => {
  const { text } = request
  return isDone(text) ? Effect.succeed(text.value) : Effect.orDie(text)
}

/** A text of JSON, held to a schema with the same refusals as everywhere. Make it once. */
export const decodeText = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownExit(schema, { onExcessProperty: "error" })
  const every = everyProblem(schema)
  return (text: string): Effect.Effect<S["Type"], Refused<"invalid_request">> => {
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      return Effect.fail(badJson("not valid JSON"))
    }
    return mapErrorNow(decode(json), (error) => refuseBody(every(json, error)))
  }
}

/**
 * The body of a raw handler, held to its schema with the same refusals as everywhere. Make it once:
 *
 *     const decode = decodeJson(Submit)
 *     … handlers.handleRaw("submit", Effect.fnUntraced(function*({ request }) { const input = yield* decode(request) …
 */
export const decodeJson = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = decodeText(schema)
  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<S["Type"], Refused<"invalid_request">> =>
    flatMapNow(bodyTextOf(request), decode)
}
