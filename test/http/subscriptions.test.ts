/** Subscriptions over HTTP: messages of a feed that match wake an agent, each of them once. */
import { sql } from "kysely"
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { appendMessages } from "../../src/feeds/appending.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { makeAgent, makeThread } from "./threadFixture.ts"
import { makeSubscriptionTools } from "./subscriptionFixture.ts"

const server = await during(startServer())
const { append, makeFeed, read, status, statusOf, subscribe, subscribed, toldTimes, toldTo } =
  makeSubscriptionTools(server)
/** Of tests that look at one answer. */
const agents = { one: await makeAgent(server.alpha) }
const feeds = { one: await makeFeed() }

describe("a subscription", () => {
  it("wakes its agent with a message that matches, in a thread of its own, and says so", async () => {
    const agentId = await makeAgent(server.alpha)
    const feedId = await makeFeed()
    await append(feedId, "from before")
    const made = await subscribed(agentId, feedId, { condition: `text.contains("fire")`, intent: "Put it out." })
    assert.include(made, { agentId, feedId, enabled: true, cursor: 1, pendingCount: 0, includeSelf: false })
    assert.deepStrictEqual([made.cadence, made.target], [{ mode: "immediate" }, { mode: "spawn" }])
    await append(feedId, "all is well", "fire in the kitchen")
    const [told] = await toldTimes(agentId, 1)
    assert.deepStrictEqual(told?.principal, { type: "subscription", id: made.id })
    assert.match(told?.text ?? "", /^Put it out\.\n\nFeed feed\S* \(feed_\w+\), message 3:\n\n#3 \S+ api_key:\S+: fire/)
    const after = await until("escalated", async () => {
      const found = await read(made.id)
      return found.lastStatus === "escalated" && found
    })
    assert.include(after, { cursor: 3, pendingCount: 0, lastThreadId: told?.threadId })
    const { body } = await server.alpha.get(`/v1/subscriptions/${made.id}/evaluations`)
    assert.lengthOf(body.evaluations, 1)
    assert.include(body.evaluations[0], { status: "escalated", fromSeq: 3, toSeq: 3, count: 1 })
  })
})

describe("targets", () => {
  it("spawn has a thread for each handover, reuse one until that is archived, thread the one that it names", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const threadId = await makeThread(server.alpha, agentId)
    const [spawn, reuse, one] = await Promise.all([
      subscribed(agentId, feedId),
      subscribed(agentId, feedId, { target: { mode: "reuse" } }),
      subscribed(agentId, feedId, { target: { mode: "thread", threadId } })
    ])
    await append(feedId, "one", "two")
    const told = await toldTimes(agentId, 6)
    const threadsOf = ({ id }: { id: string }) =>
      told.filter(({ principal }) => principal.id === id).map((message) => message.threadId)
    assert.strictEqual(new Set(threadsOf(spawn)).size, 2)
    assert.strictEqual(new Set(threadsOf(reuse)).size, 1)
    assert.deepStrictEqual(new Set(threadsOf(one)), new Set([threadId]))
    const [reused = ""] = threadsOf(reuse)
    await until("at rest", async () => (await server.alpha.get(`/v1/threads/${reused}`)).body.status === "idle")
    for (const id of [reused, threadId])
      assert.strictEqual((await server.alpha.post(`/v1/threads/${id}/archive`)).status, 200)
    await append(feedId, "three")
    const after = await toldTimes(agentId, 8)
    const anew = after.find(({ principal, text }) => principal.id === reuse.id && text.includes("three"))
    assert.notStrictEqual(anew?.threadId, reused)
    const disabled = await until("disabled", async () => {
      const found = await read(one.id)
      return found.enabled === false && found
    })
    assert.include(disabled, { disabledReason: "thread_archived", lastStatus: "failed" })
    // Given another thread it hands over there what the first did not take.
    const other = await makeThread(server.alpha, agentId)
    const patch = { target: { mode: "thread", threadId: other }, enabled: true }
    assert.strictEqual((await server.alpha.patch(`/v1/subscriptions/${one.id}`, patch)).status, 200)
    const last = await until("handed over", async () => {
      const found = await read(one.id)
      return found.lastStatus === "escalated" && found.pendingCount === 0 && found
    })
    assert.include(last, { enabled: true, lastThreadId: other })
  })
})

describe("cadence", () => {
  it("immediate hands over one at a time, or as many as have come", async () => {
    const feedId = await makeFeed()
    const [single, many] = [await makeAgent(server.alpha), await makeAgent(server.alpha)]
    await subscribed(single, feedId)
    await subscribed(many, feedId, { cadence: { mode: "immediate", maxMessages: 3 } })
    await append(feedId, ...Array.from({ length: 7 }, (_, i) => `message ${i}`))
    const one = await toldTimes(single, 7)
    assert.lengthOf(one, 7)
    const three = await toldTimes(many, 3)
    assert.sameMembers(
      three.map(({ text }) => text.match(/#\d+/g)?.join(" ")),
      ["#1 #2 #3", "#4 #5 #6", "#7"]
    )
  })

  it("a window gathers, says when it ends, and ends with as many as it takes", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { cadence: { mode: "window", windowSeconds: 30, maxMessages: 3 } })
    await append(feedId, "one", "two")
    const open = await until("a window", async () => {
      const found = await read(id)
      return found.nextAt !== undefined && found
    })
    assert.include(open, { cursor: 0, pendingCount: 2 })
    const ends = Date.parse(open.nextAt) - Date.now()
    assert.isTrue(ends > 25_000 && ends <= 30_500, open.nextAt)
    assert.lengthOf(await toldTo(agentId), 0)
    await append(feedId, "three", "four")
    const [told] = await toldTimes(agentId, 1)
    assert.match(told?.text ?? "", /messages 1 to 3, 3 of them match:/)
    const rest = await until("the next window", async () => {
      const found = await read(id)
      return found.lastStatus === "escalated" && found.nextAt !== undefined && found
    })
    assert.include(rest, { cursor: 3, pendingCount: 1 })
  })
})

describe("a cadence of instants", () => {
  it("says when the next one is, gathers until then, and is refused where it has none", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const cadence = { mode: "schedule", expression: "* * * * *", timezone: "Europe/Berlin" }
    const { id, nextAt } = await subscribed(agentId, feedId, { cadence })
    const wait = Date.parse(nextAt) - Date.now()
    assert.isTrue(wait > -1_000 && wait <= 60_000 && nextAt.endsWith(":00.000Z"), nextAt)
    await append(feedId, "one")
    assert.include(
      await until("noticed", async () => {
        const found = await read(id)
        return found.pendingCount === 1 && (await statusOf(id)) === "collecting" && found
      }),
      { cursor: 0 }
    )
    for (const [more, code] of [
      [{ expression: "0 0 31 4 *" }, "invalid_cron"],
      [{ expression: "* * * * * *" }, "invalid_cron"],
      [{ timezone: "+01:00" }, "invalid_timezone"],
      [{ timezone: "Mars/Base" }, "invalid_timezone"]
    ] as const) {
      const answer = await subscribe(agentId, feedId, { cadence: { ...cadence, ...more } })
      refusedAt(answer, 400, "invalid_request", `cadence.${"timezone" in more ? "timezone" : "expression"}`)
      assert.strictEqual(answer.body.code, code)
    }
  })
})

describe("conditions", () => {
  it.each([
    ["text +", 6],
    ["severity == 1", 0],
    ["seq", 0],
    ["tags.exists(t, tags.exists(u, u == t))", 15],
    ["text.matches(text)", 13],
    ["text.matches('[')", 13],
    [`${"true || ".repeat(130)}true`, undefined]
  ])("%s is refused, with its position", async (condition, at) => {
    const answer = await subscribe(agents.one, feeds.one, { condition })
    refusedAt(answer, 400, "invalid_request", "condition")
    assert.strictEqual(
      answer.body.code,
      at === undefined && condition.length > 1024 ? "invalid_body" : "invalid_condition"
    )
    if (at !== undefined) assert.match(answer.body.message, new RegExp(`at position ${at}$`))
  })

  it.each(["text != 'a\0b'", "text != 'a\ud800b'"])(
    "with what the database cannot hold are refused: %j",
    async (condition) => {
      refusedAt(await subscribe(agents.one, feeds.one, { condition }), 400, "invalid_request", "condition")
    }
  )

  it("that cannot be asked of a message do not match it, and see all that the message says", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    await subscribed(agentId, feedId, {
      condition: "data.level > 2 && 'x' in tags && principal.type == 'api_key' && seq > 1 && text.matches('^a+b$')"
    })
    const odd = { text: "aab", tags: ["x"] }
    await append(feedId, { ...odd, data: { level: 3 } }, odd, { ...odd, data: { level: "3" } })
    await append(feedId, { ...odd, data: { level: 3 } })
    const told = await toldTimes(agentId, 1)
    assert.lengthOf(told, 1)
    assert.match(told[0]?.text ?? "", /#4 /)
  })

  it("see data whatever its keys are called", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    await subscribed(agentId, feedId, { condition: "data.level > 2 && data.constructor.constructor == 'x'" })
    const data = { level: 3, constructor: { constructor: "x", toString: 1 } }
    await append(feedId, { text: "odd keys", data })
    assert.match((await toldTimes(agentId, 1))[0]?.text ?? "", /odd keys/)
  })

  it("are tried on what a feed could hold, and on nothing else", async () => {
    const { id } = await subscribed(await makeAgent(server.alpha), await makeFeed())
    const tried = (sample: object) => server.alpha.post(`/v1/subscriptions/${id}/evaluate`, { sample })
    const most = { text: "x", data: "y".repeat(limits.feedDataBytes - 2) }
    assert.strictEqual((await tried(most)).status, 200)
    for (const sample of [{ ...most, data: `${most.data}y` }, { text: "a\0b" }, { text: "a\ud800b" }])
      refused(await tried(sample), 400, "invalid_request")
  })

  it("are tried on a sample, which asks nobody and hands nothing over", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { condition: "data.level > 2", intent: "Look." })
    const tried = async (sample: object) =>
      (await server.alpha.post(`/v1/subscriptions/${id}/evaluate`, { sample })).body
    const yes = await tried({ text: "hot", data: { level: 3 } })
    assert.isTrue(yes.matched)
    assert.match(yes.content, /^Look\.\n\nFeed feed\d+ \(feed_\w+\), message 1:\n\n#1 .*: hot$/)
    assert.deepStrictEqual(await tried({ text: "cold", data: { level: 1 } }), { matched: false })
    assert.deepStrictEqual(await tried({ text: "odd" }), { matched: false, error: "No such key: level" })
    const own = { type: "agent", id: agentId }
    assert.isFalse((await tried({ text: "own", data: { level: 3 }, principal: own })).matched)
    assert.lengthOf(await toldTo(agentId), 0)
  })
})

describe("a message appended while a subscription is made", () => {
  it("is never missed, and comes once", async () => {
    const agentId = await makeAgent(server.alpha)
    const feedIds = await Promise.all(Array.from({ length: 12 }, makeFeed))
    await Promise.all(
      feedIds.map(async (feedId) => {
        // From the first on, whenever that is.
        const made = subscribed(agentId, feedId, { cursor: 0 })
        await Promise.all([made, ...Array.from({ length: 6 }, (_, i) => append(feedId, `${feedId} ${i}`))])
      })
    )
    const told = await toldTimes(agentId, 72)
    assert.lengthOf(new Set(told.map(({ text }) => text.slice(text.lastIndexOf(": feed_")))), 72)
    assert.lengthOf(told, 72)
  })
})

describe("the cursor", () => {
  it("begins where it is told, stays while disabled, goes on when enabled, and repeats what is behind it", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    await append(feedId, "one", "two")
    refusedAt(await subscribe(agentId, feedId, { cursor: 3 }), 400, "invalid_request", "cursor")
    const { id } = await subscribed(agentId, feedId, { cursor: 1 })
    await toldTimes(agentId, 1)
    await status(id, "escalated")
    const path = `/v1/subscriptions/${id}`
    const off = await server.alpha.patch(path, { enabled: false })
    assert.include(off.body, { enabled: false, cursor: 2 })
    assert.notProperty(off.body, "disabledReason")
    await append(feedId, "three")
    assert.include(await read(id), { cursor: 2, pendingCount: 1, enabled: false })
    assert.include((await server.alpha.patch(path, { enabled: true })).body, { enabled: true })
    await toldTimes(agentId, 2)
    await until("dealt with", async () => (await read(id)).cursor === 3)
    refusedAt(await server.alpha.patch(path, { cursor: 4 }), 400, "invalid_request", "cursor")
    assert.strictEqual((await server.alpha.patch(path, { cursor: 2 })).status, 200)
    const again = await toldTimes(agentId, 3)
    assert.lengthOf(
      again.filter(({ text }) => text.includes(": three")),
      2
    )
  })

  it("is the feed's last seq where nothing is in hand: what came and did not match is dismissed", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { condition: "false" })
    await append(feedId, "one", "two")
    const found = await until("dismissed", async () => {
      const found = await read(id)
      return found.cursor === 2 && found
    })
    assert.include(found, { pendingCount: 0, lastStatus: "dismissed" })
    assert.isDefined(found.lastEvaluatedAt)
    assert.deepStrictEqual((await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body, { evaluations: [] })
  })

  it("passes over what retention has removed, and says so", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    await append(feedId, "one", "two")
    await server.query(sql`update feeds set first_seq = 3 where id = ${toUuid(feedId)}::uuid`)
    const { id } = await subscribed(agentId, feedId, { cursor: 0 })
    const found = await status(id, "dismissed")
    assert.include(found, { cursor: 2, lastReason: "messages_trimmed" })
    const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
    assert.include(evaluations[0], { status: "dismissed", reason: "messages_trimmed", toSeq: 2 })
  })
})

describe("the screen", () => {
  it("dismisses what its model says no to, and lets all else pass, on the agent's budget", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { screen: { model: "troupe/scripted", instructions: "Fire?" } })
    await append(feedId, "quiet\n/say No, that is nothing.")
    assert.include(await status(id, "dismissed"), { cursor: 1 })
    assert.lengthOf(await toldTo(agentId), 0)
    await append(feedId, "loud\n/say Nobody knows.")
    await toldTimes(agentId, 1)
    await status(id, "escalated")
    const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
    assert.deepStrictEqual(
      evaluations.map((row: any) => [row.status, row.fromSeq, row.count]),
      [
        ["escalated", 2, 1],
        ["dismissed", 1, 1]
      ]
    )
    refusedAt(
      await subscribe(agentId, feedId, { screen: { model: "nobody/none" } }),
      422,
      "model_unavailable",
      "screen.model"
    )
  })

  it("is tried again where the budget is used up, and what it cost is the agent's", async () => {
    const feedId = await makeFeed()
    const paid = "troupe/scripted-paid"
    const agentId = await makeAgent(server.alpha, [paid], { budget: { limit: 1e-9, window: "24h" } })
    const { id } = await subscribed(agentId, feedId, { screen: { model: paid } })
    await append(feedId, "first\n/say no")
    await status(id, "dismissed")
    const spent = await server.query(
      sql`select sum(amount)::float8 as amount from spent where subject = ${toUuid(agentId)}::uuid`
    )
    assert.isAbove((spent.rows[0] as any).amount, 0)
    assert.lengthOf(
      (await server.query(sql`select from reservations where subject = ${toUuid(agentId)}::uuid`)).rows,
      0
    )
    await append(feedId, "second")
    const failed = await status(id, "failed")
    assert.include(failed, { enabled: true, pendingCount: 1 })
    assert.isAtMost(Date.parse(failed.nextAt) - Date.now(), 3_600_000)
    const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
    assert.strictEqual(evaluations[0].error.code, "budget_exceeded")
  })
})

describe("hops", () => {
  it("above the limit are passed over, and a batch has as many as the message that has most", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId)
    const by = (hops: number) =>
      server.runtime.runPromise(
        server.database.atomically("test", (tx) =>
          appendMessages(
            tx,
            server.workspaces.alpha,
            feedId,
            { messages: [{ text: `${hops} hops` }] },
            {
              principal: { type: "user", id: "ann" },
              hops
            },
            undefined
          )
        )
      )
    await by(limits.feedHops)
    await status(id, "escalated")
    await by(limits.feedHops + 1)
    assert.include(await status(id, "dismissed"), { lastReason: "hop_limit", cursor: 2 })
    assert.lengthOf(await toldTo(agentId), 1)
  })
})
