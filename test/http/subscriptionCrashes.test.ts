/**
 * Crash points of subscriptions (crashing.ts): whichever commit a node dies at, each message that matches is handed over
 * once, in the order of the feed, and none is forgotten.
 */
import { assert, describe, it } from "@effect/vitest"
import { until } from "../waiting.ts"
import { type Run, type Scenario, startNodes, withEachCrash } from "./crashing.ts"
import { logOf, makeAgent } from "./threadFixture.ts"
import { during } from "../setup/during.ts"
import { fresh, only } from "./toolFixture.ts"

const nodes = await during(startNodes())

interface Place {
  readonly agentId: string
  readonly feedId: string
}
const place = async (run: Run, ...agent: ReadonlyArray<ReadonlyArray<string>>): Promise<Place> => ({
  agentId: await makeAgent(run.client, ...agent),
  feedId: (await run.post("/v1/feeds", { name: fresh("feed") })).feed.id
})
const matching = `text.startsWith("yes")`
const subscribe = async (run: Run, { agentId, feedId }: Place, more: object = {}): Promise<string> => {
  const body = { feedId, condition: matching, target: { mode: "reuse" }, ...more }
  return (await run.post(`/v1/agents/${agentId}/subscriptions`, body)).id
}
const append = async (run: Run, { feedId }: Place, ...texts: ReadonlyArray<string>): Promise<number> =>
  (await run.post(`/v1/feeds/${feedId}/messages`, { messages: texts.map((text) => ({ text })) })).endSeq
const read = async (run: Run, id: string) => (await run.client.get(`/v1/subscriptions/${id}`)).body

/** Turns that the subscription has begun, each with the seqs of its messages. */
const toldBy = async (run: Run, { agentId }: Place, id: string) => {
  const { threads } = (await run.client.get(`/v1/threads?agentId=${agentId}&limit=200`)).body
  const told = new Map<string, ReadonlyArray<number>>()
  for (const { thread } of threads) {
    const log = await logOf(run.client, thread.id, (log) => log.length > 0)
    for (const event of only(log, "user_message")) {
      const { content, principal, turnId }: any = event
      if (principal.id !== id) continue
      assert.isFalse(told.has(turnId), "one handover a turn")
      told.set(
        turnId,
        [...content[0].text.matchAll(/^#(\d+) /gm)].map(([, seq]) => Number(seq))
      )
    }
  }
  return told
}

/** What was handed over, in the order in which the subscription says that it was; it says all of it, and no more. */
const handedOver = async (run: Run, place: Place, id: string): Promise<ReadonlyArray<ReadonlyArray<number>>> => {
  const told = await toldBy(run, place, id)
  const { evaluations } = (await run.client.get(`/v1/subscriptions/${id}/evaluations?limit=200`)).body
  const said: ReadonlyArray<string> = evaluations
    .filter(({ status }: { status: string }) => status === "escalated")
    .map(({ turnId }: { turnId: string }) => turnId)
    .toReversed()
  assert.sameMembers([...said], [...told.keys()])
  return said.map((turnId) => told.get(turnId) ?? [])
}

/** Once all is at rest: what did not come by then does not come any more. */
const isHandedOver = async (run: Run, place: Place, id: string, wanted: ReadonlyArray<number>) => {
  await until(`${wanted.length} messages`, async () => {
    const told = await toldBy(run, place, id)
    return [...told.values()].flat().length >= wanted.length
  })
  await run.rest()
  assert.deepStrictEqual((await handedOver(run, place, id)).flat(), wanted)
  assert.strictEqual((await read(run, id)).pendingCount, 0)
}

const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "appends with matches",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at)
      await append(run, at, "yes 1", "no 2", "yes 3")
      await append(run, at, "no 4", "yes 5")
      await isHandedOver(run, at, id, [1, 3, 5])
    }
  },
  {
    name: "handovers of a thread each",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at, { target: { mode: "spawn" } })
      await append(run, at, "yes 1", "yes 2")
      await isHandedOver(run, at, id, [1, 2])
    }
  },
  {
    name: "a subscription that is made while messages come",
    does: async (run) => {
      const at = await place(run)
      await append(run, at, "yes 1", "no 2")
      const [id] = await Promise.all([
        subscribe(run, at, { cursor: 0 }),
        append(run, at, "yes 3"),
        append(run, at, "yes 4")
      ])
      await isHandedOver(run, at, id, [1, 3, 4])
    }
  },
  {
    name: "a change while messages come",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at, { condition: `${matching} && !text.contains("later")` })
      await append(run, at, "yes 1", "no 2")
      await Promise.all([
        run.patch(`/v1/subscriptions/${id}`, { condition: matching, intent: "Anew." }),
        append(run, at, "yes 3"),
        append(run, at, "yes 4")
      ])
      await append(run, at, "yes 5, later")
      await isHandedOver(run, at, id, [1, 3, 4, 5])
    }
  },
  {
    name: "a window that its messages fill",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at, { cadence: { mode: "window", windowSeconds: 3_600, maxMessages: 3 } })
      await append(run, at, "yes 1", "no 2")
      await append(run, at, "yes 3", "yes 4")
      await isHandedOver(run, at, id, [1, 3, 4])
      assert.lengthOf(await handedOver(run, at, id), 1)
    }
  },
  {
    name: "a screen that says no to one",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at, { screen: { model: "troupe/scripted" } })
      await append(run, at, "yes 1\n/say no")
      await append(run, at, "yes 2\n/say yes")
      await isHandedOver(run, at, id, [2])
    }
  },
  {
    name: "a pause while it is disabled",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at)
      await append(run, at, "yes 1")
      await run.patch(`/v1/subscriptions/${id}`, { enabled: false })
      await append(run, at, "no 2", "yes 3")
      await run.patch(`/v1/subscriptions/${id}`, { enabled: true })
      await append(run, at, "yes 4")
      await isHandedOver(run, at, id, [1, 3, 4])
    }
  },
  {
    name: "a thread that refuses the batch at first",
    does: async (run) => {
      const paid = "troupe/scripted-paid"
      const at = await place(run, [paid])
      const thread = await run.post("/v1/threads", {
        agentId: at.agentId,
        maxCost: 1e-9,
        message: { content: [{ type: "text", text: "spend" }] }
      })
      const threadId = thread.thread.id
      await logOf(run.client, threadId, (log) => log.some(({ type }) => type.startsWith("turn_")))
      const id = await subscribe(run, at, { target: { mode: "thread", threadId } })
      await append(run, at, "yes 1")
      await until("a refusal", async () => (await read(run, id)).lastStatus === "failed")
      await run.patch(`/v1/threads/${threadId}`, { maxCost: null })
      await append(run, at, "yes 2")
      await isHandedOver(run, at, id, [1, 2])
    }
  },
  {
    name: "a feed that is archived while messages gather",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at, { cadence: { mode: "window", windowSeconds: 3_600 } })
      await append(run, at, "yes 1")
      await run.post(`/v1/feeds/${at.feedId}/archive`)
      await run.rest()
      const { disabledReason, enabled, pendingCount } = await read(run, id)
      assert.deepStrictEqual(
        { disabledReason, enabled, pendingCount },
        {
          disabledReason: "feed_archived",
          enabled: false,
          pendingCount: 1
        }
      )
      assert.lengthOf(await handedOver(run, at, id), 0)
    }
  },
  {
    name: "a subscription that is deleted while messages come",
    does: async (run) => {
      const at = await place(run)
      const id = await subscribe(run, at)
      await append(run, at, "yes 1")
      await isHandedOver(run, at, id, [1])
      await Promise.all([
        run.ask("DELETE", `/v1/subscriptions/${id}`, undefined, [404]),
        append(run, at, "yes 2"),
        append(run, at, "yes 3")
      ])
      await run.rest()
      const after = await append(run, at, "yes 4")
      await run.rest()
      assert.strictEqual((await run.client.get(`/v1/subscriptions/${id}`)).status, 404)
      const { threads } = (await run.client.get(`/v1/threads?agentId=${at.agentId}`)).body
      assert.lengthOf(threads, 1)
      const log = await logOf(run.client, threads[0].thread.id, (log) => log.length > 0)
      const seqs = only(log, "user_message").map(({ content }: any) => Number(/^#(\d+) /m.exec(content[0].text)?.[1]))
      assert.deepStrictEqual(
        seqs,
        seqs.map((_, i) => i + 1)
      )
      assert.isBelow(seqs.length, after)
    }
  }
]

describe("whichever commit a node dies at, each match is handed over once and in order:", () => {
  it.concurrent.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    { timeout: 240_000 },
    async (_, scenario) => withEachCrash(nodes, scenario)
  )
})
