/** What is kept of a list of tools that is longer than a toolset may be (src/tools/mcp/listing.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../src/domain/limits.ts"
import { listingOf } from "../../src/tools/mcp/listing.ts"

const offers = (many: number) =>
  Array.from({ length: many }, (_, i) => ({ name: `t${i}`, inputSchema: { type: "object" as const } }))
const listing = (many: number, complete: boolean) =>
  Effect.runPromise(listingOf(() => Effect.succeed(undefined), "n", { offers: offers(many), complete, tasks: false }))

describe("a list of tools", () => {
  it.each([
    [512, true, undefined],
    [513, true, "left out: what follows, since there are too many"],
    [512, false, "left out: what follows, since there are too many"],
    [600, false, "left out: what follows, since there are too many"]
  ])("of %i that is whole (%s) has the note %s", async (many, complete, note) => {
    const { note: told, tools } = await listing(many, complete)
    assert.lengthOf(tools, 512)
    assert.strictEqual(told, note)
  })
})

describe("a tool that a server lists", () => {
  const listed = (...offers: ReadonlyArray<object>) =>
    Effect.runPromise(
      listingOf(() => Effect.succeed(undefined), "n", {
        offers: offers.map((fields, i) => ({ name: `t${i}`, inputSchema: { type: "object" as const }, ...fields })),
        complete: true,
        tasks: false
      })
    )
  /** A schema of so many bytes of JSON. */
  const schemaOf = (bytes: number) => {
    const schema = { type: "object" as const, description: "" }
    return { ...schema, description: "d".repeat(bytes - JSON.stringify(schema).length) }
  }

  it("has schemas of 64 KiB each, and is left out with one of a byte more", async () => {
    const most = limits.mcpToolSchemaBytes
    const whole = await listed({ inputSchema: schemaOf(most), outputSchema: schemaOf(most) })
    assert.deepStrictEqual([whole.tools.length, whole.note], [1, undefined])
    for (const name of ["inputSchema", "outputSchema"]) {
      const { note = "", tools } = await listed({ [name]: schemaOf(most + 1) })
      assert.lengthOf(tools, 0)
      assert.match(note, new RegExp(`^left out: t0: its ${name} is not `))
    }
  })

  it("is described in 16 KiB: a longer text is cut", async () => {
    const most = "é".repeat(limits.toolDescriptionBytes * 2)
    const { tools } = await listed({ description: most }, { description: `${most}a` })
    const [whole, cut] = tools.map(({ description = "" }) => description)
    assert.strictEqual(whole, most)
    assert.isAtMost(Buffer.byteLength(cut ?? ""), limits.toolDescriptionBytes * 4)
    assert.isTrue(cut?.endsWith("é…"))
  })

  it("is among those whose texts are 1 MiB together: what follows is left out", async () => {
    const large = (bytes: number) => ({ outputSchema: schemaOf(bytes) })
    const rest = await listed(...Array.from({ length: 15 }, () => large(limits.mcpToolSchemaBytes)))
    const left = limits.catalogueBytes - rest.tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0)
    const around = JSON.stringify({ name: "t15", inputSchema: { type: "object" }, outputSchema: {} }).length - 2
    const many = (bytes: number) =>
      listed(...Array.from({ length: 15 }, () => large(limits.mcpToolSchemaBytes)), large(bytes))
    const fits = await many(left - around)
    assert.deepStrictEqual([fits.tools.length, fits.note], [16, undefined])
    const over = await many(left - around + 1)
    assert.deepStrictEqual([over.tools.length, over.note], [15, "left out: what follows, since there are too many"])
  })
})
