/** ModelImageFormatUnsupportedDetails: "1 to 4 items, unique, sorted", "the encoded object is at most 4 KiB". */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ModelImageFormatUnsupportedDetails } from "../../src/domain/failure.ts"
import { imageFormatFailure } from "../../src/models/images.ts"

const isDetails = Schema.is(ModelImageFormatUnsupportedDetails)

describe("details of refused image formats", () => {
  it("are sorted and unique, in whatever order the images stood in the message", () => {
    for (const [formats, sorted] of [
      [
        ["webp", "gif"],
        ["gif", "webp"]
      ],
      [
        ["png", "jpeg", "gif", "webp"],
        ["gif", "jpeg", "png", "webp"]
      ],
      [
        ["webp", "gif", "webp"],
        ["gif", "webp"]
      ],
      [["png"], ["png"]]
    ] as const) {
      const { details } = imageFormatFailure("a/b", formats, "no")
      assert.deepStrictEqual(details?.formats, [...sorted])
      assert.isTrue(isDetails(details))
    }
  })

  it("are refused when they are not sorted, twice the same, none or another", () => {
    for (const formats of [
      ["webp", "gif"],
      ["png", "jpeg"],
      ["gif", "gif"],
      [],
      ["gif", "jpeg", "png", "webp", "bmp"]
    ]) {
      assert.isFalse(isDetails({ targetId: "a/b", formats }), formats.join())
    }
    assert.isTrue(isDetails({ targetId: "a/b", formats: ["gif", "jpeg", "png", "webp"] }))
  })

  it("have at most 4 KiB of JSON, which the longest id of a model leaves room for", () => {
    const formats = ["gif", "jpeg", "png", "webp"]
    const rest = Buffer.byteLength(JSON.stringify({ targetId: "", formats }))
    assert.isTrue(isDetails({ targetId: "a".repeat(4096 - rest), formats }))
    assert.isFalse(isDetails({ targetId: "a".repeat(4097 - rest), formats }))
    for (const character of ['"', "\u{1f600}", "漢"])
      assert.isTrue(isDetails({ targetId: `a/${character.repeat(510)}`, formats }), character)
  })
})
