/** Subscriptions over HTTP: messages of a feed that match wake an agent, each of them once. */
import { sql } from "kysely"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { enlist } from "../../src/subscriptions/enlisting.ts"
import { freshId } from "../../src/seed.ts"
import { forgetUnborn } from "../../src/subscriptions/forgetting.ts"
import { appendMessages } from "../../src/feeds/appending.ts"
import { Client, startServer, type TestServer } from "../setup/server.ts"
import { absent, assertRefused as refused } from "./refused.ts"
import { ended, logOf, makeAgent, makeThread } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

let server: TestServer
/** Of tests that look at one answer. */
const agents = { one: "" }
const feeds = { one: "" }
beforeAll(async () => {
  server = await startServer()
  agents.one = await makeAgent(server.alpha)
  feeds.one = await makeFeed()
})
afterAll(async () => {
  await server.stop()
})

const makeFeed = async (): Promise<string> => {
  const made = await server.alpha.post("/v1/feeds", { name: fresh("feed") })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed.id
}
const append = async (feedId: string, ...messages: ReadonlyArray<string | object>) => {
  const sent = await server.alpha.post(`/v1/feeds/${feedId}/messages`, {
    messages: messages.map((message) => (typeof message === "string" ? { text: message } : message))
  })
  assert.strictEqual(sent.status, 201, sent.text)
  return sent.body.endSeq as number
}
const subscribe = (agentId: string, feedId: string, more: object = {}) =>
  server.alpha.post(`/v1/agents/${agentId}/subscriptions`, { feedId, ...more })
const subscribed = async (agentId: string, feedId: string, more: object = {}) => {
  const made = await subscribe(agentId, feedId, more)
  assert.strictEqual(made.status, 201, made.text)
  return made.body
}
const read = async (id: string) => (await server.alpha.get(`/v1/subscriptions/${id}`)).body
const until = async <A>(what: string, look: () => Promise<A | undefined | false>): Promise<A> => {
  for (const end = performance.now() + 15_000; performance.now() < end; ) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`it never came to that: ${what}`)
}
interface Told {
  readonly text: string
  readonly principal: { readonly type: string; readonly id: string }
  readonly threadId: string
}
/** What the agent was told by subscriptions, thread by thread. */
const toldTo = async (agentId: string): Promise<ReadonlyArray<Told>> => {
  const { body } = await server.alpha.get(`/v1/threads?agentId=${agentId}&limit=200&includeArchived=true`)
  const logs = await Promise.all(
    body.threads.map(async ({ thread: { id } }: { thread: { id: string } }) => {
      const log = await logOf(server.alpha, id, (log) => log.length > 0)
      return log
        .filter(({ type }) => type === "user_message")
        .map((event: any) => ({ text: event.content[0].text, principal: event.principal, threadId: id }))
    })
  )
  return logs.flat()
}
const toldTimes = (agentId: string, times: number) =>
  until(`${times} messages`, async () => {
    const told = await toldTo(agentId)
    return told.length >= times && told
  })

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

const status = (id: string, wanted: string) =>
  until(wanted, async () => {
    const found = await read(id)
    return found.lastStatus === wanted && found
  })
const run = <Row>(statement: ReturnType<typeof sql<Row>>) =>
  server.runtime.runPromise(server.database.run("test", (db) => statement.execute(db)))
const statusOf = async (id: string) =>
  ((await run(sql`select status from heads where id = ${toUuid(id)}::uuid`)).rows[0] as any)?.status as string

/** Its feed knows of its last change. */
const listed = (id: string) =>
  until("told", async () => {
    const { rows } = await run(sql`select condition from subscribers where id = ${toUuid(id)}::uuid and listed`)
    return (rows[0] as any)?.condition === (await read(id)).condition
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
      refused(answer, 400, "invalid_request", `cadence.${"timezone" in more ? "timezone" : "expression"}`)
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
    refused(answer, 400, "invalid_request", "condition")
    assert.strictEqual(
      answer.body.code,
      at === undefined && condition.length > 1024 ? "invalid_body" : "invalid_condition"
    )
    if (at !== undefined) assert.match(answer.body.message, new RegExp(`at position ${at}$`))
  })

  it.each(["text != 'a\0b'", "text != 'a\ud800b'"])(
    "with what the database cannot hold are refused: %j",
    async (condition) => {
      refused(await subscribe(agents.one, feeds.one, { condition }), 400, "invalid_request", "condition")
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
      refused(await tried(sample), 400, "invalid_request", undefined)
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
    refused(await subscribe(agentId, feedId, { cursor: 3 }), 400, "invalid_request", "cursor")
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
    refused(await server.alpha.patch(path, { cursor: 4 }), 400, "invalid_request", "cursor")
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
    await run(sql`update feeds set first_seq = 3 where id = ${toUuid(feedId)}::uuid`)
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
    refused(
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
    const spent = await run(
      sql`select sum(amount)::float8 as amount from spent where subject = ${toUuid(agentId)}::uuid`
    )
    assert.isAbove((spent.rows[0] as any).amount, 0)
    assert.lengthOf((await run(sql`select from reservations where subject = ${toUuid(agentId)}::uuid`)).rows, 0)
    await append(feedId, "second")
    const failed = await status(id, "failed")
    assert.include(failed, { enabled: true, pendingCount: 1 })
    assert.isAtMost(Date.parse(failed.nextAt) - Date.now(), 3_600_000)
    const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
    assert.strictEqual(evaluations[0].error.code, "budget_exceeded")
  })
})

describe("what takes a subscription its feed or its agent", () => {
  it("is the feed's archiving: it is disabled by force, also in its window, and stays so", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { cadence: { mode: "window", windowSeconds: 30 } })
    await append(feedId, "one")
    await until("a window", async () => (await read(id)).nextAt !== undefined)
    const archived = await server.alpha.post(`/v1/feeds/${feedId}/archive`)
    const found = await read(id)
    assert.include(found, {
      enabled: false,
      disabledReason: "feed_archived",
      feedArchivedAt: archived.body.feed.archivedAt
    })
    assert.include(found, { pendingCount: 1 })
    refused(await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true }), 409, "feed_archived")
    refused(await subscribe(agentId, feedId), 409, "feed_archived")
    await until("disabled", async () => (await statusOf(id)) === "disabled")
  })

  it("is told with its reason, also where a change comes before the word of it", async () => {
    const feedId = await makeFeed()
    const { id } = await subscribed(await makeAgent(server.alpha), feedId)
    // As it is while that word is on its way.
    await run(sql`update feeds set archived_at = now() where id = ${toUuid(feedId)}::uuid`)
    for (const patch of [{ intent: "Read it." }, { enabled: false }]) {
      const patched = await server.alpha.patch(`/v1/subscriptions/${id}`, patch)
      assert.include(patched.body, { enabled: false, disabledReason: "feed_archived" }, patched.text)
    }
    await until("disabled", async () => (await statusOf(id)) === "disabled")
    assert.include(await read(id), { intent: "Read it.", enabled: false, disabledReason: "feed_archived" })
  })

  it("is the agent's archiving", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId)
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${agentId}`)).status, 204)
    assert.include(await read(id), { enabled: false, disabledReason: "agent_archived" })
    refused(await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true }), 409, "agent_archived")
    refused(await subscribe(agentId, feedId), 409, "agent_archived")
    await until("disabled", async () => (await statusOf(id)) === "disabled")
  })

  it("is not a disabled identity: its messages are passed over", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const identity = `${fresh("who")}@example.com`
    const { id } = await subscribed(agentId, feedId, { identity })
    assert.strictEqual((await server.alpha.post("/v1/identities/disable", { identity })).status, 200)
    await append(feedId, "one")
    assert.include(await status(id, "dismissed"), { enabled: true, cursor: 1, lastReason: "identity_disabled" })
    assert.lengthOf(await toldTo(agentId), 0)
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

describe("on several nodes", () => {
  it("a subscription goes on where its node has left, with what was in hand and what came meanwhile", async () => {
    const leaving = await startServer({ beside: server, name: "leaving" })
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const there = new Client(leaving.base, server.alpha.token)
    const made = await there.post(`/v1/agents/${agentId}/subscriptions`, {
      feedId,
      cadence: { mode: "window", windowSeconds: 30, maxMessages: 2 }
    })
    assert.strictEqual(made.status, 201, made.text)
    await append(feedId, "one")
    await until("a window", async () => (await read(made.body.id)).nextAt !== undefined)
    await leaving.stop()
    await append(feedId, "two")
    const [told] = await toldTimes(agentId, 1)
    assert.match(told?.text ?? "", /messages 1 to 2, 2 of them match/)
    assert.lengthOf(await toldTo(agentId), 1)
  })

  it("conditions that another node has changed are judged by at once", async () => {
    const second = await startServer({ beside: server, name: "second" })
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { condition: "false" })
    await append(feedId, "one")
    await until("one", async () => (await read(id)).cursor === 1)
    const there = new Client(second.base, server.alpha.token)
    const changed = await there.patch(`/v1/subscriptions/${id}`, { condition: "text == 'two'" })
    assert.strictEqual(changed.status, 200, changed.text)
    await listed(id)
    await append(feedId, "one", "two")
    const [told] = await toldTimes(agentId, 1)
    assert.match(told?.text ?? "", /message 3:/)
    await second.stop()
  })
})

describe("what comes while it is disabled, enabled and changed", () => {
  it("is handed over once each, in the order of the feed", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { target: { mode: "reuse" } })
    const path = `/v1/subscriptions/${id}`
    const changes = async () => {
      for (let i = 0; i < 6; i++) {
        const { status, text } = await server.alpha.patch(
          path,
          i % 3 === 2 ? { name: `${i}` } : { enabled: i % 3 === 1 }
        )
        assert.strictEqual(status, 200, text)
      }
    }
    const writes = async () => {
      for (let i = 0; i < 30; i++) await append(feedId, `message ${i}`)
    }
    await Promise.all([changes(), writes()])
    const told = await toldTimes(agentId, 30)
    assert.deepStrictEqual(
      told.map(({ text }) => Number(/message (\d+)$/.exec(text)?.[1])),
      Array.from({ length: 30 }, (_, i) => i)
    )
  })
})

describe("a rule that wants approval", () => {
  it("parks reads and changes, nothing hopeless among them, and carries them out once", async () => {
    const id = await server.workspace(fresh("parks"))
    const [admin, asker] = [await server.client(id), await server.client(id)]
    const agentId = await makeAgent(admin)
    const feedId = (await admin.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const rules = [{ actions: ["subscription.read", "subscription.*"], principals: ["api_key"], require: true }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    const decided = async (asked: ReturnType<Client["send"]>) => {
      const answer = await asked
      assert.strictEqual(answer.status, 202, answer.text)
      assert.strictEqual(answer.headers.get("location"), `/v1/operations/${answer.body.operation.id}`)
      const { body } = await admin.post(`/v1/operations/${answer.body.operation.id}/approve`)
      return body.operation.result
    }
    const make = `/v1/agents/${agentId}/subscriptions`
    refused(await asker.post(make, { feedId: absent("feed_") }), 422, "feed_not_found")
    refused(await asker.post(make, { feedId, condition: "seq" }), 400, "invalid_request")
    const made = await decided(asker.post(make, { feedId }))
    assert.deepInclude(made.body, { agentId, feedId, enabled: true })
    assert.strictEqual(made.status, 201)
    const path = `/v1/subscriptions/${made.body.id}`
    const shown = await decided(asker.get(path))
    assert.deepStrictEqual([shown.status, shown.body.id], [200, made.body.id])
    refused(await asker.get(`/v1/subscriptions/${absent("sub_")}`), 404, "not_found")
    refused(await asker.patch(path, { name: "x" }, { "if-match": '"99"' }), 412, "precondition_failed")
    // Both are read at the same version: the second comes too late.
    const [first, second] = await Promise.all([
      asker.patch(path, { name: "first" }, { "if-match": '"1"' }),
      asker.patch(path, { name: "second" }, { "if-match": '"1"' })
    ])
    assert.strictEqual((await decided(Promise.resolve(first))).status, 200)
    assert.strictEqual((await decided(Promise.resolve(second))).body.error, "precondition_failed")
    assert.deepStrictEqual(await decided(asker.delete(path)), { status: 204, body: null })
    assert.deepStrictEqual((await admin.get(`/v1/subscriptions?agentId=${agentId}`)).body.subscriptions, [])
  })
})

describe("subscriptions as resources", () => {
  it("are changed by a merge patch under their ETag, listed by agent and feed, and deleted", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const made = await subscribe(agentId, feedId, { name: "First", intent: "Look." })
    assert.strictEqual(made.headers.get("location"), `/v1/subscriptions/${made.body.id}`)
    const path = `/v1/subscriptions/${made.body.id}`
    const etag = made.headers.get("etag") ?? ""
    assert.strictEqual((await server.alpha.get(path)).headers.get("etag"), etag)
    for (const patch of [{ name: "First" }, { condition: "" }, { cadence: null }]) {
      const same = await server.alpha.patch(path, patch, { "if-match": etag })
      assert.deepStrictEqual([same.headers.get("etag"), same.body.updatedAt], [etag, made.body.updatedAt])
    }
    const patched = await server.alpha.patch(path, { name: null, includeSelf: true }, { "if-match": etag })
    assert.notProperty(patched.body, "name")
    assert.include(patched.body, { includeSelf: true, intent: "Look." })
    refused(
      await server.alpha.patch(path, { name: "Third" }, { "if-match": etag }),
      412,
      "precondition_failed",
      "If-Match"
    )
    refused(await server.alpha.delete(path, { "if-match": etag }), 412, "precondition_failed", "If-Match")
    const second = await subscribed(agentId, feedId)
    const idsOf = async (query: string) =>
      (await server.alpha.get(`/v1/subscriptions?${query}`)).body.subscriptions.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}`), [second.id, made.body.id])
    assert.deepStrictEqual(await idsOf(`feedId=${feedId}`), [second.id, made.body.id])
    const page = await server.alpha.get(`/v1/subscriptions?agentId=${agentId}&limit=1`)
    assert.deepStrictEqual(await idsOf(`limit=1&cursor=${page.body.nextCursor}`), [made.body.id])
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}&feedId=${await makeFeed()}`), [])
    assert.strictEqual((await server.alpha.delete(path)).status, 204)
    refused(await server.alpha.get(path), 404, "not_found")
    refused(await server.alpha.patch(path, { name: "x" }), 404, "not_found")
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}`), [second.id])
    refused(await server.beta.get(`/v1/subscriptions/${second.id}`), 404, "not_found")
  })

  it("are made once by requests of one key", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const headers = { "idempotency-key": fresh("key") }
    const path = `/v1/agents/${agentId}/subscriptions`
    const [first, second] = [
      await server.alpha.post(path, { feedId }, headers),
      await server.alpha.post(path, { feedId }, headers)
    ]
    assert.deepStrictEqual([first.status, second.status], [201, 201])
    assert.deepStrictEqual(second.body, first.body)
    assert.strictEqual(second.headers.get("location"), `/v1/subscriptions/${first.body.id}`)
  })

  it.each([
    [{ name: "x".repeat(120) }, { name: "x".repeat(121) }, "name"],
    [{ intent: "é".repeat(2048) }, { intent: "é".repeat(2049) }, "intent"],
    [{ condition: `text == "${"x".repeat(1014)}"` }, { condition: `text == "${"x".repeat(1015)}"` }, "condition"],
    [
      { screen: { model: "troupe/scripted", instructions: "x".repeat(4096) } },
      { screen: { model: "troupe/scripted", instructions: "x".repeat(4097) } },
      "screen.instructions"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1000 } },
      { cadence: { mode: "window", windowSeconds: 29 } },
      "cadence.windowSeconds"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 86_400, maxMessages: 1 } },
      { cadence: { mode: "window", windowSeconds: 86_401 } },
      "cadence.windowSeconds"
    ],
    [
      { cadence: { mode: "immediate", maxMessages: 1000 } },
      { cadence: { mode: "immediate", maxMessages: 1001 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "immediate", maxMessages: 1 } },
      { cadence: { mode: "immediate", maxMessages: 0 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1 } },
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 0 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1000 } },
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1001 } },
      "cadence.maxMessages"
    ],
    [{ cursor: 0 }, { cursor: -1 }, "cursor"]
  ])("take what is at a limit and refuse one past it: %o", async (fits, past, path) => {
    assert.strictEqual((await subscribe(agents.one, feeds.one, fits)).status, 201)
    refused(await subscribe(agents.one, feeds.one, past), 400, "invalid_request", path)
  })

  it("name what is there", async () => {
    const [feedId, agentId] = [await makeFeed(), await makeAgent(server.alpha)]
    refused(await subscribe(absent("agt_"), feedId), 404, "not_found")
    refused(await subscribe(agentId, absent("feed_")), 422, "feed_not_found", "feedId")
    const other = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (const threadId of [other, absent("thr_")])
      refused(
        await subscribe(agentId, feedId, { target: { mode: "thread", threadId } }),
        422,
        "thread_not_found",
        "target.threadId"
      )
  })

  it("have their places: 100 an agent, 1,000 a feed", async () => {
    const agentId = await makeAgent(server.alpha)
    const feedId = await makeFeed()
    // As if they were being made.
    const fill = (count: number, agent: string, feed: string) =>
      run(sql`insert into subscribers (workspace, feed, id, agent, listed, include_self, created_at)
        select ${toUuid(server.workspaces.alpha)}::uuid, ${toUuid(feed)}::uuid, gen_random_uuid(), ${toUuid(agent)}::uuid,
          false, false, clock_timestamp() + n * interval '1 millisecond' from generate_series(1, ${count}::int) n`)
    await fill(limits.subscriptionsPerAgent - 1, agentId, await makeFeed())
    await fill(limits.subscriptionsPerFeed - 1, absent("agt_"), feedId)
    await subscribed(agentId, feedId)
    const other = await makeAgent(server.alpha)
    refused(await subscribe(agentId, await makeFeed()), 409, "too_many_subscriptions")
    refused(await subscribe(other, feedId), 409, "too_many_subscriptions")
  })

  it("lose a place after an hour that nobody was born into, and take it again where somebody is", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const born = await subscribed(agentId, feedId)
    const taken = (age: string) =>
      run(sql`insert into subscribers (workspace, feed, id, agent, listed, include_self, created_at)
        values (${toUuid(server.workspaces.alpha)}::uuid, ${toUuid(feedId)}::uuid, gen_random_uuid(),
          ${toUuid(agentId)}::uuid, false, false, clock_timestamp() - ${age}::interval)`)
    await taken("59 minutes")
    await taken("61 minutes")
    await run(
      sql`update subscribers set created_at = created_at - interval '1 day' where id = ${toUuid(born.id)}::uuid`
    )
    assert.strictEqual(await server.runtime.runPromise(forgetUnborn()), 1)
    const places = () => run(sql`select id from subscribers where feed = ${toUuid(feedId)}::uuid`)
    assert.lengthOf((await places()).rows, 2)
    await run(sql`delete from subscribers where feed = ${toUuid(feedId)}::uuid`)
    // As its actor does with every change.
    const as = { listed: true, condition: undefined, includeSelf: false }
    await server.runtime.runPromise(
      server.database.atomically("test", (tx) =>
        enlist(tx, server.workspaces.alpha, { id: born.id, version: 1, agentId, feedId, as })
      )
    )
    await append(feedId, "one")
    await toldTimes(agentId, 1)
  })
})

describe("another target", () => {
  const next = (id: string, after: number) =>
    until("another evaluation", async () => {
      const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
      return evaluations.length > after && evaluations[0]
    })

  it("is where a batch goes that the one before has refused: to a thread, and to one that is made", async () => {
    const feedId = await makeFeed()
    const unable = await makeAgent(server.alpha, ["nobody/has-it"])
    const threadId = await makeThread(server.alpha, unable)
    const toThread = await subscribed(unable, feedId, { condition: "true", target: { mode: "spawn" } })
    const paying = await makeAgent(server.alpha, ["troupe/scripted-paid"])
    const spent = await makeThread(server.alpha, paying, { maxCost: 1e-9 })
    await server.alpha.post(`/v1/threads/${spent}/messages`, { content: [{ type: "text", text: "one" }] })
    await logOf(server.alpha, spent, ended(1))
    const toNew = await subscribed(paying, feedId, { condition: "true", target: { mode: "thread", threadId: spent } })
    for (const { id } of [toThread, toNew]) await listed(id)
    await append(feedId, "one")
    for (const { id } of [toThread, toNew]) assert.strictEqual((await next(id, 0)).status, "failed")
    await server.alpha.patch(`/v1/subscriptions/${toThread.id}`, { target: { mode: "thread", threadId } })
    await server.alpha.patch(`/v1/subscriptions/${toNew.id}`, { target: { mode: "spawn" } })
    await next(toThread.id, 1)
    assert.isUndefined((await read(toThread.id)).disabledReason)
    const made = await next(toNew.id, 1)
    assert.strictEqual(made.status, "escalated")
    assert.notStrictEqual(made.threadId, spent)
  })
})

describe("a change that the feed has not heard of", () => {
  /** While its feed cannot be told: as if an append held its row for too long, each time. */
  const untold = async <A>(id: string, flow: () => Promise<A>): Promise<A> => {
    const name = sql.table(`untold_${fresh("t").replaceAll("-", "_")}`)
    await run(sql`create function ${name}() returns trigger language plpgsql as $$ begin
      raise exception 'held' using errcode = 'lock_not_available'; end $$`)
    await run(sql`create trigger ${name} before insert on subscribers for each row
      when (new.id = ${sql.lit(toUuid(id))}::uuid) execute function ${name}()`)
    try {
      return await flow()
    } finally {
      await run(sql`drop function ${name} cascade`)
    }
  }

  it.each([
    ["another condition", { condition: `text == "other"` }],
    ["a pause", { enabled: false }]
  ])("takes nothing back that was dealt with: %s", async (_, change) => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "none"` })
    await listed(id)
    await append(feedId, "one", "two")
    assert.include(await read(id), { cursor: 2, pendingCount: 0 })
    const changed = await untold(id, () => server.alpha.patch(`/v1/subscriptions/${id}`, change))
    assert.include(changed.body, { ...change, cursor: 2, pendingCount: 0 })
  })

  it("is a pause that the feed knows of: what comes after that is not dealt with", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "none"` })
    await listed(id)
    await append(feedId, "one", "two")
    await untold(id, async () => {
      await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: false })
      // As by a node that dies before it hears of it.
      await run(
        sql`update subscribers set listed = false, told_version = 2, told_seq = 2 where id = ${toUuid(id)}::uuid`
      )
      await run(sql`update feeds set subscribers_rev = subscribers_rev + 1 where id = ${toUuid(feedId)}::uuid`)
      await append(feedId, "three")
      assert.include(await read(id), { cursor: 2, pendingCount: 1 })
    })
    const isHeard = () => run(sql<{ carry: string }>`select carry from heads where id = ${toUuid(id)}::uuid`)
    await until("it to hear", async () => JSON.parse((await isHeard()).rows[0]?.carry ?? "{}").listing === null)
    assert.include(await read(id), { cursor: 2, pendingCount: 1 })
  })

  it("takes nothing back where it is a pause that is over already, under another condition", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "before"` })
    await listed(id)
    await append(feedId, "after", "neither")
    const enabled = await untold(id, async () => {
      await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: false })
      return server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true, condition: `text == "after"` })
    })
    assert.include(enabled.body, { enabled: true, cursor: 2, pendingCount: 0 })
    await append(feedId, "after")
    const told = await toldTimes(agentId, 1)
    assert.match(told[0]?.text ?? "", /message 3:\n\n#3 /)
  })
})

describe("another condition", () => {
  /** Whenever a notice is taken, the next one is there already: as of a feed whose matches come faster than that. */
  const flooded = async (id: string, flow: () => Promise<void>) => {
    const name = `flood_${fresh("t").replaceAll("-", "_")}`
    const row = sql`old.workspace, ${sql.lit(id)} || ' flood ' || clock_timestamp(), old.actor, old.kind, old.command`
    await run(sql`create function ${sql.table(name)}() returns trigger language plpgsql as $$ begin
      insert into inbox (workspace, id, actor, kind, command) select ${row}; return null; end $$`)
    await run(sql`create trigger ${sql.table(name)} after delete on inbox for each row
      when (old.actor = ${sql.lit(toUuid(id))}::uuid) execute function ${sql.table(name)}()`)
    try {
      await flow()
    } finally {
      await run(sql`drop function ${sql.table(name)} cascade`)
    }
  }

  it("is heard of by its feed however many messages match the one before, of which none is lost", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "before"` })
    await listed(id)
    await flooded(id, async () => {
      await append(feedId, "before")
      await toldTimes(agentId, 1)
      const changed = await server.alpha.patch(`/v1/subscriptions/${id}`, { condition: `text == "after"` })
      assert.strictEqual(changed.status, 200, changed.text)
      await append(feedId, "before", "after")
      const told = await toldTimes(agentId, 2)
      const lines = told.map(({ text }) => /#(\d+) .*: (\w+)$/.exec(text)?.slice(1).join(" "))
      assert.sameMembers(lines, ["1 before", "3 after"])
    })
  })
})

describe("a feed that is told of a change", () => {
  const listened = async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId)
    const tell = (version: number, as: { readonly listed: boolean } | undefined) =>
      server.runtime.runPromise(
        server.database.atomically("test", (tx) =>
          enlist(tx, server.workspaces.alpha, {
            id,
            version,
            agentId,
            feedId,
            as: as && { ...as, condition: undefined, includeSelf: false }
          })
        )
      )
    const listed = async () => {
      const { rows } = await run(sql<{ readonly listed: boolean }>`select listed from subscribers
        where id = ${toUuid(id)}::uuid`)
      return rows.map(({ listed }) => listed)
    }
    await until("the feed to know of it", async () => (await listed())[0])
    return { feedId, id, listed, tell }
  }

  it("answers with where it was, when it is told again by whoever takes over", async () => {
    const { feedId, tell } = await listened()
    await append(feedId, "one")
    assert.strictEqual((await tell(7, { listed: false }))?.lastSeq, 1)
    await append(feedId, "two")
    assert.strictEqual((await tell(7, { listed: false }))?.lastSeq, 1)
    // Changed while it is paused: what came meanwhile was judged by nobody.
    assert.strictEqual((await tell(8, { listed: false }))?.lastSeq, 1)
    assert.strictEqual((await tell(9, { listed: true }))?.lastSeq, 2)
  })

  it("says which message comes first of those whose notice is on its way", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const [workspace, id] = [server.workspaces.alpha, freshId("subscription")]
    const as = { listed: true, condition: undefined, includeSelf: false }
    const told = await server.runtime.runPromise(
      server.database.atomically("test", async (tx) => {
        for (const from of [12, 9])
          await sql`insert into inbox (workspace, id, actor, kind, command) values (${toUuid(workspace)}::uuid,
            ${`${id} ${from}`}, ${toUuid(id)}::uuid, 'subscription', ${JSON.stringify({ type: "notice", from })})`.execute(
            tx
          )
        const told = await enlist(tx, workspace, { id, version: 1, agentId, feedId, as })
        await sql`delete from inbox where actor = ${toUuid(id)}::uuid`.execute(tx)
        return [told, await enlist(tx, workspace, { id, version: 2, agentId, feedId, as })]
      })
    )
    assert.deepStrictEqual(told, [
      { lastSeq: 0, from: 9, archived: false },
      { lastSeq: 0, archived: false }
    ])
  })

  it("keeps to the newest word, whichever comes last, and vouches for nothing that the late one asks of", async () => {
    const { feedId, listed, tell } = await listened()
    await tell(8, { listed: true })
    await append(feedId, "one", "two")
    assert.deepStrictEqual(await tell(7, { listed: false }), { lastSeq: 2, from: 1, archived: false })
    assert.deepStrictEqual(await listed(), [true])
  })

  it("does not bring back one that is deleted", async () => {
    const { id, listed, tell } = await listened()
    await server.alpha.delete(`/v1/subscriptions/${id}`)
    await until("the feed to know of it", async () => (await listed()).length === 0)
    await tell(9, { listed: true })
    assert.deepStrictEqual(await listed(), [])
  })
})
