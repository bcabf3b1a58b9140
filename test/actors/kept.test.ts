import { assert, describe, it } from "@effect/vitest"
import { replayed, rowOf } from "../../actors/kept.ts"
import { replyOf, answerReply, readReply } from "../../actors/messages.ts"

/** Rows outlive versions, and nodes of two versions talk: the numbers never change. */
const numbers = [
  ["created", 201],
  ["found", 200],
  ["done", 204]
] as const

describe("an answer", () => {
  for (const [kind, status] of numbers) {
    it(`that says ${kind} is kept and sent as ${status}, and read back`, () => {
      const key = { scope: "s", fingerprint: "f", more: "is not kept" }
      const row = rowOf(key, { kind, body: "{}", version: 3 })
      assert.deepStrictEqual(row, { scope: "s", fingerprint: "f", status, body: "{}" })
      assert.deepStrictEqual(replayed(row), { kind, body: "{}", replayed: true })

      const sent = answerReply({ kind, body: "{}", version: 3 })
      assert.deepStrictEqual(sent, { v: 1, answer: { status, body: "{}", version: 3 } })
      const read = readReply(JSON.stringify(sent))
      assert.deepStrictEqual(read !== undefined && "answer" in read && replyOf(read.answer), {
        kind,
        body: "{}",
        version: 3
      })
    })
  }
})
