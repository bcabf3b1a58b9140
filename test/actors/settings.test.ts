/** What a thread is born with, from memory or from its text. */
import { assert, describe, it } from "@effect/vitest"
import { attributesOf, attributesText } from "../../actors/thread/settings.ts"
import { ann } from "./threads.ts"

describe("what a thread is born with", () => {
  it("is not parsed again right after it was written", () => {
    const attributes = { createdBy: ann, title: "first" }
    const text = attributesText(attributes)
    assert.strictEqual(attributesOf(text), attributes)
  })

  it("is that of its own text, whichever was written last", () => {
    const first = attributesText({ createdBy: ann, title: "first", maxCost: 1 })
    const second = attributesText({ createdBy: ann, title: "second" })
    assert.deepStrictEqual(
      [second, first, second].map((text) => attributesOf(text)),
      [
        { createdBy: ann, title: "second" },
        { createdBy: ann, title: "first", maxCost: 1 },
        { createdBy: ann, title: "second" }
      ]
    )
  })
})
