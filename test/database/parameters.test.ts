/** Arrays in PostgreSQL's binary form (src/database/parameters.ts), as the database reads them. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { fromUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { booleans, floats, ints, moments, places, texts, uuids } from "../../src/database/parameters.ts"
import { ownConnection } from "../setup/database.ts"

const client = await ownConnection()

const read = async (type: string, parameter: Buffer): Promise<ReadonlyArray<unknown>> =>
  (
    await client.query<{ a: ReadonlyArray<unknown> }>(
      `select array(select to_json(v) from unnest($1::${type}[]) with ordinality as u(v, i) order by i) as a`,
      [parameter]
    )
  ).rows[0]?.a ?? []

const itself = <A>(value: A) => value
const list = <A>(value: fc.Arbitrary<A>) => fc.array(fc.option(value), { maxLength: 20 })
const same = <A>(
  values: fc.Arbitrary<ReadonlyArray<A | null>>,
  type: string,
  write: (values: ReadonlyArray<A | null>) => Buffer,
  told: (value: unknown) => unknown = itself
) =>
  fc.assert(
    fc.asyncProperty(values, async (values) => {
      assert.deepStrictEqual(
        (await read(type, write(values))).map((value) => (value === null ? null : told(value))),
        [...values]
      )
    }),
    { numRuns: 30 }
  )

describe("an array for a statement", () => {
  it("of whole numbers", () =>
    same(list(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), "int", (values) => ints(values, itself)))
  it("of fractions", () =>
    same(list(fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0)), "float8", (values) =>
      floats(values, itself)
    ))
  it("of truths", () => same(list(fc.boolean()), "bool", (values) => booleans(values, itself)))
  it("of texts, in any script", () =>
    same(list(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", ""))), "text", (values) =>
      texts(values, itself)
    ))
  it("of ids", () =>
    same(
      list(fc.constant("thread" as const).map(freshId)),
      "uuid",
      (values) => uuids(values, itself),
      (value) => fromUuid("thread", String(value))
    ))
  it("of moments, to the millisecond, from 1900 to 2285", () =>
    same(
      list(fc.integer({ min: Date.UTC(1900), max: Date.UTC(2285) })),
      "timestamptz",
      (values) => moments(values, itself),
      (value) => Date.parse(String(value))
    ))

  it("refuses what its type cannot hold, instead of writing something else", () => {
    for (const n of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN, Infinity])
      assert.throws(() => ints([n], itself), RangeError, String(n))
    for (const ms of [Date.UTC(2286), Number.NaN, Infinity])
      assert.throws(() => moments([ms], itself), RangeError, String(ms))
  })

  it("picks from rows, and knows their places", async () => {
    const rows = [
      { n: 7, text: "a" },
      { n: null, text: "ü" }
    ]
    assert.deepStrictEqual(
      await read(
        "int",
        ints(rows, ({ n }) => n)
      ),
      [7, null]
    )
    assert.deepStrictEqual(
      await read(
        "text",
        texts(rows, ({ text }, place) => `${place} ${text}`)
      ),
      ["0 a", "1 ü"]
    )
    assert.deepStrictEqual(await read("int", places(rows)), [0, 1])
    assert.deepStrictEqual(await read("int", places([])), [])
  })
})
