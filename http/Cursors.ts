/**
 * Cursors of lists.
 *
 * Q1. A cursor is opaque and signed: it holds where the page ended and which rows it was asked for,
 *     and only for the list, the path and the workspace that it was made for.
 * Q2. Filters come from the cursor. One that is sent as well must agree; one that is absent in either place stands for
 *     its default.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { Refused } from "./errors.ts"

/** Values of a list's filters and of its order, as texts. */
export type Filter = Readonly<Record<string, string | undefined>>

export interface Page {
  /** Filters to use: the cursor's, or what was sent when there is none. */
  readonly filter: Filter
  /** Where the page before ended; undefined for the first. */
  readonly after: ReadonlyArray<string | number> | undefined
}

const Held = Schema.fromJsonString(
  Schema.Tuple([
    Schema.Record(Schema.String, Schema.String),
    Schema.Array(Schema.Union([Schema.String, Schema.Finite]))
  ])
)
const decodeHeld = Schema.decodeUnknownOption(Held)

const invalid = (message: string) =>
  new Refused({ error: "invalid_request", code: "invalid_cursor", message: `cursor: ${message}` })

export class Cursors extends Context.Service<
  Cursors,
  {
    /** `place` says what is paged, with its path ids and the workspace, such as `events thr_… wsp_…`. */
    readonly seal: (place: string, filter: Filter, after: ReadonlyArray<string | number>) => string
    /**
     * The page that is asked for: refused when the cursor is forged, of another place, or disagrees with what was sent
     * (Q2).
     */
    readonly open: (
      place: string,
      cursor: string | undefined,
      sent: Filter,
      defaults?: Filter
    ) => Effect.Effect<Page, Refused<"invalid_request">>
  }
>()("troupe/http/Cursors") {
  /** `secret` is the same on every node, so that any node reads any cursor. */
  static readonly layer = (secret: Uint8Array) => Layer.sync(Cursors, () => makeCursors(secret))
}

const present = (filter: Filter) => {
  const values: Record<string, string> = {}
  for (const name of Object.keys(filter).sort()) {
    const value = filter[name]
    if (value !== undefined) values[name] = value
  }
  return values
}

const makeCursors = (secret: Uint8Array): Cursors["Service"] => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", "troupe cursors", 32))
  const sign = (place: string, body: string) =>
    createHmac("sha256", key).update(`${place}\0${body}`).digest().subarray(0, 16)
  return {
    seal: (place, filter, after) => {
      const body = Buffer.from(JSON.stringify([present(filter), after])).toString("base64url")
      return `${body}.${sign(place, body).toString("base64url")}`
    },
    open: Effect.fnUntraced(function* (place, cursor, sent, defaults = {}) {
      if (cursor === undefined) return { filter: sent, after: undefined }
      const [body, signature, ...more] = cursor.split(".")
      if (body === undefined || signature === undefined || more.length > 0)
        return yield* invalid("not a cursor of this interface")
      const given = Buffer.from(signature, "base64url")
      const right = sign(place, body)
      if (
        given.length !== right.length ||
        given.toString("base64url") !== signature ||
        !timingSafeEqual(given, right)
      ) {
        return yield* invalid("not a cursor of this list")
      }
      const held = decodeHeld(Buffer.from(body, "base64url").toString())
      if (held._tag === "None") return yield* invalid("not a cursor of this list")
      const [filter, after] = held.value
      for (const name in sent) {
        if (sent[name] !== undefined && sent[name] !== (filter[name] ?? defaults[name]))
          return yield* invalid(`made for another ${name}`)
      }
      return { filter, after }
    })
  }
}
