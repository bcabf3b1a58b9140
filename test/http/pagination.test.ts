/** Cursors hold where a page ended and what was asked for, and nothing else can be made of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pages } from "../../src/domain/limits.ts"
import { Cursors } from "../../http/Cursors.ts"
import { pageSize } from "../../http/pagination.ts"

const secret = new Uint8Array(32).fill(7)
const using = <A, E>(work: (cursors: Cursors["Service"]) => Effect.Effect<A, E>, key = secret) =>
  Effect.flatMap(Cursors, work).pipe(Effect.provide(Cursors.layer(key)))

const place = "events wsp_a thr_a"
const seal = using((cursors) => Effect.succeed(cursors.seal(place, { order: "asc", turnId: undefined }, [17, "evt_x"])))

describe("a cursor", () => {
  it.effect("gives back where the page ended and the filters it was asked for", () =>
    Effect.gen(function* () {
      const cursor = yield* seal
      for (const sent of [{}, { order: "asc" }, { order: undefined }]) {
        assert.deepStrictEqual(yield* using((cursors) => cursors.open(place, cursor, sent)), {
          filter: { order: "asc" },
          after: [17, "evt_x"]
        })
      }
      assert.deepStrictEqual(yield* using((cursors) => cursors.open(place, undefined, { order: "desc" })), {
        filter: { order: "desc" },
        after: undefined
      })
    })
  )

  it.effect("is refused with another filter, another place, and when it was forged", () =>
    Effect.gen(function* () {
      const cursor = yield* seal
      const [body = "", signature = ""] = cursor.split(".")
      const other = Buffer.from(JSON.stringify([{ order: "asc" }, [0, "evt_x"]])).toString("base64url")
      const tries: ReadonlyArray<readonly [place: string, cursor: string, sent: Record<string, string>]> = [
        [place, cursor, { order: "desc" }],
        [place, cursor, { turnId: "trn_x" }],
        ["events wsp_a thr_b", cursor, {}],
        ["events wsp_b thr_a", cursor, {}],
        [place, body, {}],
        [place, `${body}.`, {}],
        [place, `${body}.${signature}.x`, {}],
        [place, `${body}.${signature}=`, {}],
        [place, `${body}.${signature.slice(0, -2)}`, {}],
        [place, `${body}A.${signature}`, {}],
        [place, `${other}.${signature}`, {}],
        [place, "x", {}],
        [place, ".", {}],
        [place, "\u0000", {}],
        [place, "..", {}]
      ]
      for (const [place, cursor, sent] of tries) {
        const refused = yield* Effect.flip(using((cursors) => cursors.open(place, cursor, sent)))
        assert.strictEqual(refused.error, "invalid_request")
        assert.strictEqual(refused.code, "invalid_cursor", cursor)
      }
      const refused = yield* Effect.flip(using((cursors) => cursors.open(place, cursor, {}), new Uint8Array(32)))
      assert.strictEqual(refused.code, "invalid_cursor")
    })
  )

  it.effect("survives every text as a filter's value", () =>
    Effect.gen(function* () {
      for (const value of ["", "a.b", "\u0000", "\ud800", "ü", '"],[0']) {
        const cursor = yield* using((cursors) => Effect.succeed(cursors.seal(place, { value }, [1])))
        assert.match(cursor, /^[A-Za-z0-9_.-]+$/)
        assert.deepStrictEqual((yield* using((cursors) => cursors.open(place, cursor, { value }))).filter, { value })
      }
    })
  )
})

it("lists have the defaults of the contract, none above its most", () => {
  assert.strictEqual(pageSize("events", undefined), 100)
  assert.strictEqual(pageSize("threads", undefined), 50)
  assert.strictEqual(pageSize("events", 3), 3)
  for (const [normal, most] of Object.values(pages)) assert.isTrue(normal <= most && most <= 200)
})
