/** What an agent is told of messages that match: one text, whatever they hold. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { utf8Bytes } from "../../src/domain/text.ts"
import { type Handed, handoverOf } from "../../src/subscriptions/handover.ts"

const message = (seq: number, text: string): Handed => ({
  seq,
  text,
  tags: [],
  principal: { type: "api_key", id: "key_1" },
  appendedAt: 0
})
const feed = { id: "feed_1", name: "news" }
const handed = (...messages: ReadonlyArray<Handed>) => handoverOf({ intent: undefined, feed, messages })

describe("what is handed over", () => {
  it("holds 2 KiB of a message's text whole, and says of a longer one that it goes on", () => {
    const most = "é".repeat(limits.batchTextBytes / 2)
    assert.isTrue(handed(message(1, most)).endsWith(`: ${most}`))
    const [, told = ""] = handed(message(1, `${most}a`)).split("key_1: ")
    assert.isTrue(told.endsWith("é…"))
    assert.isAtMost(utf8Bytes(told), limits.batchTextBytes)
    assert.isAbove(utf8Bytes(told), limits.batchTextBytes - 4)
  })

  it("is never longer than a message may be, and says where the rest is", () => {
    const text = handed(...Array.from({ length: 1_000 }, (_, i) => message(i + 1, "x".repeat(100))))
    assert.isAtMost(utf8Bytes(text), limits.userTextBytes)
    const shown = text.split("\n\n").filter((line) => line.startsWith("#")).length
    assert.isAbove(shown, 10)
    assert.include(text, `startSeq ${shown + 1}, endSeq 1000 has it.`)
  })
})
