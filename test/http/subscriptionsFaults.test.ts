/** Subscriptions whose node loses what it has: each message that matches is handed over once, and in order. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Journal, JournalUnavailable } from "../../src/journal/Journal.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { logOf, makeAgent } from "./threadFixture.ts"
import { fresh, loseLease, only } from "./toolFixture.ts"

/** The next append of a subscription is lost. */
let isLost = false
const journal = Layer.effect(
  Journal,
  Effect.map(Journal, (journal) =>
    Journal.of({
      ...journal,
      append: (append) =>
        Effect.suspend(() => {
          if (!isLost || append.actor.kind !== "subscription") return journal.append(append)
          isLost = false
          return Effect.fail(new JournalUnavailable({ cause: "test" }))
        })
    })
  )
)
const server = await during(startServer({ journal }))

const rounds = 6
const each = 4

describe("a node that loses its lease while messages come", () => {
  it.each([
    ["one at a time", { mode: "immediate" }],
    ["as many as have come", { mode: "immediate", maxMessages: 10 }]
  ])("hands over each message once, in the order of the feed, %s", async (_, cadence) => {
    const { alpha } = server
    const feedId = (await alpha.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const agentId = await makeAgent(alpha)
    const made = await alpha.post(`/v1/agents/${agentId}/subscriptions`, {
      feedId,
      cadence,
      condition: "text.startsWith('yes')",
      target: { mode: "reuse" }
    })
    assert.strictEqual(made.status, 201, made.text)
    const append = async (round: number) => {
      const messages = Array.from({ length: each }, (_, i) => ({ text: `${i % 2 === 0 ? "yes" : "no"} ${round} ${i}` }))
      const sent = await alpha.post(`/v1/feeds/${feedId}/messages`, { messages })
      assert.strictEqual(sent.status, 201, sent.text)
    }
    for (let round = 0; round < rounds; round++)
      await Promise.all([append(round), round % 2 === 0 ? loseLease(server) : undefined])
    const seqsOf = (text: string) => [...text.matchAll(/^#(\d+) /gm)].map(([, seq]) => Number(seq))
    const wanted = Array.from({ length: rounds * each }, (_, i) => i + 1).filter((seq) => seq % 2 === 1)
    const end = performance.now() + 30_000
    let told: ReadonlyArray<number> = []
    while (told.length < wanted.length && performance.now() < end) {
      const { lastThreadId } = (await alpha.get(`/v1/subscriptions/${made.body.id}`)).body
      if (lastThreadId === undefined) continue
      const log = await logOf(alpha, lastThreadId, (log) => log.length > 0)
      told = only(log, "user_message").flatMap((event: any) => seqsOf(event.content[0].text))
    }
    assert.deepStrictEqual(told, wanted)
    const { evaluations } = (await alpha.get(`/v1/subscriptions/${made.body.id}/evaluations?limit=200`)).body
    const counted = evaluations.filter(({ status }: { status: string }) => status === "escalated")
    assert.strictEqual(
      counted.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
      wanted.length
    )
  })
})

describe("a subscription whose birth is lost", () => {
  it("is not made, and may be tried again: nobody is told that it does not exist", async () => {
    const { alpha } = server
    const feedId = (await alpha.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const path = `/v1/agents/${await makeAgent(alpha)}/subscriptions`
    const body = { feedId, condition: "true", target: { mode: "reuse" } }
    const headers = { "idempotency-key": fresh("key") }
    isLost = true
    const lost = await alpha.post(path, body, headers)
    assert.deepStrictEqual([lost.status, lost.body.error, isLost], [503, "runtime_unavailable", false], lost.text)
    assert.strictEqual((await alpha.post(path, body, headers)).status, 201)
  })
})
