/** What hooks have decided, as it is listed. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { HookDecisionPage } from "../../http/hooks/api.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { storedEvent } from "../../src/journal/storedFact.ts"
import { freshId } from "../../src/seed.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { makeAgent, makeThread } from "./threadFixture.ts"

/** Of its own: decisions are written here as no turn of theirs would write them. */
const server = await during(startServer())

describe("decisions", () => {
  interface WriteSet {
    readonly threadId: string
    readonly at: number
    readonly hook: { readonly hookId: string; readonly decision: string; readonly [field: string]: unknown }
    readonly more?: object
  }
  let pos = 1_000
  /** As a thread's host writes them (machines/thread/facts.ts). */
  const write = (workspace: string, rows: ReadonlyArray<WriteSet>) =>
    server.runtime.runPromise(
      server.database.run("test", (db) =>
        db
          .insertInto("facts")
          .values(
            rows.map(({ at, hook, more, threadId }) => {
              pos++
              return {
                workspace: toUuid(workspace),
                actor: toUuid(threadId),
                pos,
                seq: pos,
                n: 1,
                turn: toUuid(turnId),
                at: new Date(at),
                once: null,
                detail: null,
                event: storedEvent({
                  type: "hook_decision",
                  event: JSON.stringify({
                    hook: { index: 0, point: "before_tool_call", processor: "url", latencyMs: 5, ...hook },
                    ...more
                  })
                })
              }
            })
          )
          .execute()
      )
    )

  const turnId = freshId("turn")
  const day = Date.parse("2026-03-01T00:00:00Z")
  const [one, two] = [freshId("hook"), freshId("hook")]
  let agents: ReadonlyArray<string>
  let threads: ReadonlyArray<string>
  beforeAll(async () => {
    agents = [await makeAgent(server.alpha), await makeAgent(server.alpha)]
    threads = [await makeThread(server.alpha, agents[0]!), await makeThread(server.alpha, agents[1]!)]
    const [a = "", b = ""] = threads
    await write(server.workspaces.alpha, [
      { threadId: a, at: day, hook: { hookId: one, decision: "allow" } },
      {
        threadId: a,
        at: day + 1,
        hook: { hookId: two, decision: "allow", rewrote: true, deliveryId: freshId("delivery") },
        more: { toolCallId: "call_1" }
      },
      {
        threadId: a,
        at: day + 2,
        hook: { hookId: one, decision: "ask", point: "before_turn_start", processor: "client" },
        more: { waitId: "wait_1" }
      },
      { threadId: b, at: day + 2, hook: { hookId: one, decision: "deny", reason: "no \u0000 \ud800" } },
      { threadId: b, at: day + 3, hook: { hookId: two, decision: "defer" } }
    ])
    const theirs = await makeThread(server.beta, await makeAgent(server.beta))
    await write(server.workspaces.beta, [{ threadId: theirs, at: day, hook: { hookId: one, decision: "deny" } }])
  })

  const list = async (query = "") => {
    const answer = await server.alpha.get(`/v1/hooks/decisions${query}`)
    assert.strictEqual(answer.status, 200, answer.text)
    assertShape(HookDecisionPage, answer.body)
    return answer.body
  }
  const seen = async (query: string) =>
    (await list(query)).decisions.map((row: { decision: string; rewrote?: boolean }) =>
      row.rewrote ? "rewrote" : row.decision
    )

  it("are listed newest first, with where they were made and whether they made a difference", async () => {
    const { decisions } = await list()
    assert.deepStrictEqual(
      decisions.map((row: { occurredAt: string }) => Date.parse(row.occurredAt) - day),
      [3, 2, 2, 1, 0]
    )
    const [rewrote, first] = decisions.slice(3)
    assert.deepStrictEqual(first, {
      hookId: one,
      index: 0,
      point: "before_tool_call",
      processor: "url",
      decision: "allow",
      latencyMs: 5,
      threadId: threads[0],
      agentId: agents[0],
      turnId,
      seq: first.seq,
      occurredAt: "2026-03-01T00:00:00.000Z",
      enforced: false
    })
    assert.deepInclude(rewrote, { decision: "allow", rewrote: true, enforced: true, toolCallId: "call_1" })
    assert.deepStrictEqual(
      decisions.map((row: { enforced: boolean; decision: string }) => [row.decision, row.enforced]).sort(),
      [
        ["allow", false],
        ["allow", true],
        ["ask", true],
        ["defer", false],
        ["deny", true]
      ]
    )
  })

  it("are found by thread, agent, hook, point, decision and time, and by all of them", async () => {
    assert.deepStrictEqual(await seen(`?threadId=${threads[0]}`), ["ask", "rewrote", "allow"])
    assert.deepStrictEqual(await seen(`?agentId=${agents[1]}`), ["defer", "deny"])
    assert.deepStrictEqual((await seen(`?hookId=${one}`)).sort(), ["allow", "ask", "deny"])
    assert.deepStrictEqual(await seen("?point=before_turn_start"), ["ask"])
    assert.deepStrictEqual(await seen("?decision=deny"), ["deny"])
    assert.deepStrictEqual(await seen("?from=2026-03-01T00:00:00.001Z&to=2026-03-01T00:00:00.002Z"), ["rewrote"])
    assert.deepStrictEqual(await seen("?from=2026-03-01T01:00:00.003%2B01:00"), ["defer"])
    assert.deepStrictEqual(await seen("?to=2026-03-01T00:00:00Z"), [])
    assert.deepStrictEqual(
      await seen(
        `?threadId=${threads[0]}&agentId=${agents[0]}&hookId=${one}&point=before_tool_call&decision=allow&from=2026-01-01T00:00:00Z`
      ),
      ["allow"]
    )
    assert.deepStrictEqual(await seen(`?threadId=${threads[0]}&agentId=${agents[1]}`), [])
    assert.deepStrictEqual(await seen(`?threadId=${absent("thr_")}`), [])
  })

  it("come in pages that lose and repeat nothing, with those of one moment in one order", async () => {
    const all = (await list()).decisions
    for (const limit of [1, 2, 3]) {
      const found = []
      let cursor: string | undefined
      do {
        const page = await list(`?limit=${limit}${cursor === undefined ? "" : `&cursor=${cursor}`}`)
        assert.isAtMost(page.decisions.length, limit)
        found.push(...page.decisions)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      assert.deepStrictEqual(found, all)
    }
    const first = await list(`?limit=1&hookId=${one}`)
    assert.strictEqual((await list(`?limit=1&cursor=${first.nextCursor}`)).decisions[0].hookId, one)
    refusedAt(
      await server.alpha.get(`/v1/hooks/decisions?cursor=${first.nextCursor}&hookId=${two}`),
      400,
      "invalid_request",
      "cursor"
    )
    refusedAt(await server.beta.get(`/v1/hooks/decisions?cursor=${first.nextCursor}`), 400, "invalid_request", "cursor")
  })

  it("come in pages that look at a bounded number of facts, however rare what is asked for: none is lost, none comes twice", async () => {
    const own = await startServer()
    const agentId = await makeAgent(own.alpha)
    const threadId = await makeThread(own.alpha, agentId)
    const hookId = freshId("hook")
    const plain = (decision: string) =>
      storedEvent({
        type: "hook_decision",
        event: JSON.stringify({
          hook: { hookId, index: 0, point: "before_tool_call", processor: "url", latencyMs: 5, decision }
        })
      })
    // One in three thousand is a denial: one at each end, and three in between.
    await own.runtime.runPromise(
      own.database.run("test", (db) =>
        sql`
      insert into facts (workspace, actor, at, pos, seq, n, turn, event)
      select ${toUuid(own.workspaces.alpha)}::uuid, ${toUuid(threadId)}::uuid, ${new Date(day)}::timestamptz + n * interval '1 second', 1000 + n, 1000 + n, 1, ${toUuid(turnId)}::uuid,
             case when n % 3000 = 0 then ${plain("deny")} else ${plain("allow")} end
        from generate_series(0, 12000) n`.execute(db)
      )
    )
    for (const filter of [
      "",
      `&agentId=${agentId}`,
      `&hookId=${hookId}`,
      `&threadId=${threadId}`,
      `&threadId=${threadId}&hookId=${hookId}`,
      "&point=before_tool_call"
    ]) {
      const found: Array<number> = []
      let pages = 0
      for (let cursor: string | undefined = ""; cursor !== undefined; pages++) {
        const { body, status, text } = await own.alpha.get(
          `/v1/hooks/decisions?decision=deny${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`
        )
        assert.strictEqual(status, 200, text)
        found.push(...body.decisions.map(({ seq }: { seq: number }) => seq))
        cursor = body.nextCursor
      }
      assert.deepStrictEqual([found, pages], [[13_000, 10_000, 7_000, 4_000, 1_000], 3], filter)
    }
    assert.lengthOf((await own.alpha.get("/v1/hooks/decisions?limit=200")).body.decisions, 200)
    await own.stop()
  })

  it("are the workspace's own", async () => {
    assert.lengthOf((await server.beta.get("/v1/hooks/decisions")).body.decisions, 1)
    assert.deepStrictEqual((await server.beta.get(`/v1/hooks/decisions?threadId=${threads[0]}`)).body, {
      decisions: []
    })
    assert.deepStrictEqual((await server.beta.get(`/v1/hooks/decisions?agentId=${agents[0]}`)).body, { decisions: [] })
  })

  it("are asked for with parameters that fit", async () => {
    for (const [query, name] of [
      ["threadId=x", "threadId"],
      ["agentId=thr_1", "agentId"],
      ["hookId=1", "hookId"],
      ["point=before", "point"],
      ["decision=maybe", "decision"],
      ["from=yesterday", "from"],
      ["to=2026-02-31T00:00:00Z", "to"],
      ["from=2026-01-01", "from"],
      ["limit=0", "limit"],
      ["limit=201", "limit"],
      ["since=1", "since"]
    ] as const)
      refusedAt(await server.alpha.get(`/v1/hooks/decisions?${query}`), 400, "invalid_request", name)
    assert.strictEqual((await server.alpha.get("/v1/hooks/decisions?limit=200")).status, 200)
    const writer = await server.client(server.workspaces.alpha, { scopes: ["write"] })
    refused(await writer.get("/v1/hooks/decisions"), 403, "permission_denied")
  })

  it("are found by an index, however many other facts there are", async () => {
    const plan = async (name: string, condition: string) => {
      const rows = await server.runtime.runPromise(
        server.database.read<{ "QUERY PLAN": string }>({
          name,
          values: [],
          text: `explain select * from facts f where f.workspace = '${toUuid(server.workspaces.alpha)}' and ${condition}
          order by f.at desc, f.actor desc, f.pos desc limit 10`
        })
      )
      return rows.map((row) => row["QUERY PLAN"]).join("\n")
    }
    assert.match(await plan("plan of all", "true"), /Index Scan Backward using facts_hook_decisions/)
    assert.match(await plan("plan of one", `readable(f.event) -> 'hook' ->> 'hookId' = '${one}'`), /facts_by_hook/)
  })
})
