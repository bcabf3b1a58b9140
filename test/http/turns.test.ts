/** The turns of a thread as a list, and threads by their status and by what caused them. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { call, makeWorker, turnOf } from "./toolFixture.ts"

const server = await during(startServer())

interface Turn {
  readonly turnId: string
  readonly firstSeq?: number | undefined
  readonly lastSeq?: number | undefined
  readonly [field: string]: unknown
}
const pageOf = async (threadId: string, query = "") => {
  const answer = await server.alpha.get(`/v1/threads/${threadId}/turns${query}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body as { readonly turns: ReadonlyArray<Turn>; readonly nextCursor?: string }
}
const turnsOf = async (threadId: string, query = "") => (await pageOf(threadId, query)).turns

/** What the log says of a turn, as its list should. */
const told = (log: ReadonlyArray<Event>, turnId: string) => {
  const events = log.filter((event) => event.turnId === turnId)
  const of = (type: string) => events.filter((event) => event.type === type).length
  const [first, last] = [events[0], events.at(-1)]
  return {
    turnId,
    firstSeq: first?.seq,
    lastSeq: last?.seq,
    startedAt: first?.occurredAt,
    endedAt: last?.occurredAt,
    principal: first?.principal,
    submitMode: first?.submitMode,
    toolCalls: of("tool_intent"),
    waits: of("wait_created"),
    usage: last?.usage
  }
}

describe("the turns of a thread", () => {
  it("say of each what its events say: how it ended, what it used, what it did", async () => {
    const agentId = await makeWorker(server.alpha)
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "one")
    await logOf(server.alpha, threadId, ended(1))
    await submit(server.alpha, threadId, `${call("thread.get", {})}\n${call("thread.get", {})}\n/then\n/say done`)
    await logOf(server.alpha, threadId, ended(2))
    await submit(server.alpha, threadId, "/error model_error")
    await logOf(server.alpha, threadId, ended(3))
    const { turnId } = await submit(server.alpha, threadId, "/wait 600s\nlong")
    await server.alpha.post(`/v1/threads/${threadId}/cancel`, { turnId })
    const log = await logOf(server.alpha, threadId, ended(4))
    const ids = [...new Set(log.map((event) => event.turnId))]
    const outcomes = [
      { outcome: "completed" },
      { outcome: "completed" },
      { outcome: "failed", failureCode: log.find(({ type }) => type === "turn_failed")?.failureCode },
      { outcome: "cancelled" }
    ]
    // A call of several is one response with the others; one that only calls says no text.
    const responses = [1, 2, 0, 0]
    const expected = ids.map((turnId, i) => ({ ...told(log, turnId), responses: responses[i], ...outcomes[i] }))
    assert.deepStrictEqual(await turnsOf(threadId, "?order=asc"), expected)
    assert.deepStrictEqual(await turnsOf(threadId), expected.toReversed())
    assert.strictEqual(expected[1]?.toolCalls, 2)
  })

  it("come newest first a page at a time, or oldest first, each once", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (let i = 1; i <= 5; i++) {
      await submit(server.alpha, threadId, `message ${i}`)
      await logOf(server.alpha, threadId, ended(i))
    }
    const seqs = async (order: string) => {
      const pages: Array<ReadonlyArray<number | undefined>> = []
      for (let query = `?limit=2&order=${order}`; ; ) {
        const { nextCursor, turns } = await pageOf(threadId, query)
        pages.push(turns.map(({ firstSeq }) => firstSeq))
        if (nextCursor === undefined) return pages
        query = `?limit=2&cursor=${nextCursor}`
      }
    }
    assert.deepStrictEqual(await seqs("desc"), [[13, 10], [7, 4], [1]])
    assert.deepStrictEqual(await seqs("asc"), [[1, 4], [7, 10], [13]])
    const { nextCursor } = await pageOf(threadId, "?limit=2")
    for (const query of [`order=asc&cursor=${nextCursor}`, "cursor=x", "order=up", "limit=201"])
      assertRefused(await server.alpha.get(`/v1/threads/${threadId}/turns?${query}`), 400, "invalid_request")
  })

  it("hold the one that goes on, without an end and with what it has used so far", async () => {
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha))
    assert.deepStrictEqual(await turnsOf(threadId), [])
    const { turnId } = await submit(server.alpha, threadId, `${call("thread.get", {})}\n/then\n/wait 600s\nlong`)
    await logOf(server.alpha, threadId, (log) => log.some(({ type }) => type === "tool_result"))
    const [turn] = await turnsOf(threadId)
    assert.deepInclude(turn, { turnId, firstSeq: 1, responses: 1, toolCalls: 1 })
    assert.notProperty(turn, "outcome")
    assert.notProperty(turn, "endedAt")
    const { usage } = (await server.alpha.get(`/v1/threads/${threadId}`)).body
    assert.deepStrictEqual(turn?.usage, usage)
    assert.isAbove(usage.totalTokens, 0)
    await server.alpha.post(`/v1/threads/${threadId}/cancel`, {})
  })

  it("are whole where one has more events than are looked at for a page", { timeout: 60_000 }, async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (let i = 1; i <= 2; i++) {
      await submit(server.alpha, threadId, "short")
      await logOf(server.alpha, threadId, ended(i))
    }
    // The second gets as many responses more as are looked at, and its end behind them.
    const more = limits.turnEventsLookedAt
    await server.query(sql`update facts set pos = pos + ${more}, seq = seq + ${more}
      where actor = ${toUuid(threadId)}::uuid and seq = 6`)
    await server.query(sql`insert into facts (actor, at, pos, seq, n, turn, event)
      select f.actor, f.at, f.pos + i, f.seq + i, 0, f.turn, f.event from facts f, generate_series(1, ${more}) i
      where f.actor = ${toUuid(threadId)}::uuid and f.seq = 5`)
    for (const order of ["desc", "asc"]) {
      const turns: Array<Turn> = []
      for (let query = `?order=${order}`; ; ) {
        const page = await pageOf(threadId, query)
        turns.push(...page.turns)
        if (page.nextCursor === undefined) break
        query = `?cursor=${page.nextCursor}`
      }
      const seen = turns.map(({ firstSeq, lastSeq, responses }) => ({ firstSeq, lastSeq, responses }))
      const expected = [
        { firstSeq: 4, lastSeq: 6 + more, responses: 1 + more },
        { firstSeq: 1, lastSeq: 3, responses: 1 }
      ]
      assert.deepStrictEqual(seen, order === "desc" ? expected : expected.toReversed())
    }
  })

  it("are those of the workspace's own threads", async () => {
    const threadId = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (const client of [server.beta, server.alpha]) {
      const id = client === server.beta ? threadId : `thr_${"0".repeat(26)}`
      assertRefused(await client.get(`/v1/threads/${id}/turns`), 404, "not_found")
    }
  })
})

describe("threads of a status", () => {
  it("are listed by it, and not by what they wait for besides", async () => {
    const agentId = await makeAgent(server.alpha)
    const [idle, running, failed] = [
      await makeThread(server.alpha, agentId),
      await makeThread(server.alpha, agentId),
      await makeThread(server.alpha, agentId)
    ]
    await submit(server.alpha, running, "/wait 600s\nlong")
    await submit(server.alpha, failed, "/error model_error")
    await logOf(server.alpha, failed, ended(1))
    const listed = async (status: string) => {
      const { body } = await server.alpha.get(`/v1/threads?agentId=${agentId}&status=${status}`)
      return body.threads.map(({ thread }: { readonly thread: { readonly id: string } }) => thread.id)
    }
    assert.deepStrictEqual(await listed("idle"), [idle])
    assert.deepStrictEqual(await listed("running"), [running])
    assert.deepStrictEqual(await listed("failed"), [failed])
    assert.deepStrictEqual(await listed("cancelled"), [])
    const both = await server.alpha.get("/v1/threads?status=idle&state=waiting")
    assertRefused(both, 400, "invalid_request", "status_with_state")
    assertRefused(await server.alpha.get("/v1/threads?status=waiting"), 400, "invalid_request")
    const page = await server.alpha.get(`/v1/threads?agentId=${agentId}&status=idle&limit=1`)
    assert.notProperty(page.body, "nextCursor")
    await server.alpha.post(`/v1/threads/${running}/cancel`, {})
  })

  it("are looked for among so many, and the next page goes on behind them", { timeout: 60_000 }, async () => {
    const agentId = await makeAgent(server.alpha)
    const [old, one] = [await makeThread(server.alpha, agentId), await makeThread(server.alpha, agentId)]
    await submit(server.alpha, old, "/error model_error")
    await logOf(server.alpha, old, ended(1))
    await server.query(sql`update heads set touched = touched - 1, updated_at = updated_at - interval '1 minute'
      where id = ${toUuid(old)}::uuid`)
    // As many newer ones at rest as are looked at, and one more.
    await server.query(sql`insert into heads (workspace, id, parent, created_at, kind, attributes, owner, epoch, pos, seq, rev, touched,
        updated_at, since, runnable_at, status, carry)
      select workspace, gen_random_uuid(), parent, created_at, kind, attributes, null, 0, 0, 0, 1, touched, updated_at,
        null, null, 'idle', carry from heads, generate_series(1, ${limits.threadsLookedAt})
      where id = ${toUuid(one)}::uuid`)
    const first = await server.alpha.get(`/v1/threads?agentId=${agentId}&status=failed`)
    assert.deepStrictEqual(first.body.threads, [])
    const second = await server.alpha.get(`/v1/threads?cursor=${first.body.nextCursor}`)
    assert.deepStrictEqual(
      second.body.threads.map(({ thread }: { readonly thread: { readonly id: string } }) => thread.id),
      [old]
    )
    assert.notProperty(second.body, "nextCursor")
  })

  it("say what their turns have used", async () => {
    const agentId = await makeAgent(server.alpha)
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const { usage } = (await server.alpha.get(`/v1/threads/${threadId}`)).body
    const { body } = await server.alpha.get(`/v1/threads?agentId=${agentId}`)
    assert.deepStrictEqual(body.threads[0].usage, usage)
  })
})

describe("a thread that another one caused", () => {
  const threadOf = async (agentId: string) => {
    const { body } = await server.alpha.get(`/v1/threads?agentId=${agentId}`)
    return body.threads[0].thread
  }

  it("says which call has asked for it", async () => {
    const other = await makeWorker(server.alpha)
    const agentId = await makeWorker(server.alpha, { families: ["agents"], familyExposure: "always" })
    const log = await turnOf(server.alpha, agentId, call("agents.ask", { agentId: other, message: "/say yes" }))
    const [intent] = log.filter(({ type }) => type === "tool_intent")
    const { askedBy, ...thread } = await threadOf(other)
    assert.deepStrictEqual(askedBy, { threadId: intent?.threadId, toolCallId: intent?.toolCallId })
    assert.notProperty(thread, "reviews")
    assert.notProperty(await threadOf(agentId), "askedBy")
  })

  it("says which hook it judges for, and of which delivery", async () => {
    const reviewer = await makeWorker(server.alpha)
    const instructions = `/say {"decision":"allow"}`
    const hooks = [
      { name: "review", point: "before_turn_start", processor: { type: "agent", agentId: reviewer, instructions } }
    ]
    const agentId = await makeWorker(server.alpha, { hooks })
    const log = await turnOf(server.alpha, agentId, "hello")
    const decision = log.find(({ type }) => type === "hook_decision")?.hook as {
      readonly hookId: string
      readonly deliveryId: string
    }
    const { reviews } = await threadOf(reviewer)
    const { hookId, deliveryId } = decision
    assert.deepStrictEqual(reviews, { threadId: log[0]?.threadId, hookId, deliveryId })
  })
})
