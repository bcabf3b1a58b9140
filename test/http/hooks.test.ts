/** What hooks have decided, and dry runs. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { sql } from "kysely"
import { HookDecisionPage, HookTest } from "../../http/hooks/api.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { storedEvent } from "../../src/journal/storedFact.ts"
import { freshId } from "../../src/seed.ts"
import {
  allow,
  after,
  deny,
  garbage,
  type HookServer,
  newSecret,
  rewrite,
  startHookServer,
  status
} from "../hooks/hookServer.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { absent, assertRefused as refused } from "./refused.ts"
import { makeAgent, makeThread } from "./threadFixture.ts"

let server: TestServer
let endpoint: HookServer
beforeAll(async () => {
  ;[server, endpoint] = await Promise.all([startServer(), startHookServer()])
})
afterAll(async () => {
  await server.stop()
  await endpoint.stop()
})
beforeEach(() => endpoint.forget())

const assertShape = (schema: Schema.Decoder<unknown>, body: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error", errors: "all" })(body)
  if (decoded._tag === "Failure") assert.fail(`${decoded.failure.message}\n${JSON.stringify(body)}`)
}

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
    refused(
      await server.alpha.get(`/v1/hooks/decisions?cursor=${first.nextCursor}&hookId=${two}`),
      400,
      "invalid_request",
      "cursor"
    )
    refused(await server.beta.get(`/v1/hooks/decisions?cursor=${first.nextCursor}`), 400, "invalid_request", "cursor")
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
      refused(await server.alpha.get(`/v1/hooks/decisions?${query}`), 400, "invalid_request", name)
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

describe("a dry run", () => {
  const data = {
    point: "before_tool_call",
    toolCallId: "call_1",
    toolName: "payments.refund",
    toolInput: { amount: 75 }
  }
  const hook = (fields: object = {}) => ({
    name: "h",
    point: "before_tool_call",
    processor: { type: "url", url: endpoint.url },
    ...fields
  })
  const test = async (fields: object = {}, sample: object = data) => {
    const answer = await server.alpha.post("/v1/hooks/test", { hook: hook(fields), data: sample })
    assert.strictEqual(answer.status, 200, answer.text)
    assertShape(HookTest, answer.body)
    return answer.body
  }

  it("shows what was sent, what came back and what comes of it", async () => {
    endpoint.answers(deny("too much"))
    const { matched, outcome, request, response } = await test()
    assert.isTrue(matched)
    assert.deepInclude(outcome, { decision: "deny", reason: "too much" })
    assert.deepStrictEqual(response, { status: 200, body: JSON.stringify({ decision: "deny", reason: "too much" }) })
    const [received] = endpoint.received
    assert.deepStrictEqual(request.body, received?.body)
    assert.strictEqual(request.url, endpoint.url)
    assert.deepInclude(request.body, {
      type: "hook.before_tool_call",
      workspaceId: server.workspaces.alpha,
      attempt: 1,
      deliveryId: outcome.deliveryId
    })
    assert.deepStrictEqual(request.body.data, {
      toolCallId: "call_1",
      toolName: "payments.refund",
      toolInput: { amount: 75 }
    })
    assert.notProperty(request.body, "answerToken")
    assert.strictEqual(request.headers["webhook-id"], outcome.deliveryId)
  })

  it("is signed, and shows neither secret nor signature", async () => {
    const secret = newSecret()
    endpoint.trusts(secret)
    endpoint.answers(allow())
    const made = await server.alpha.post("/v1/connections", {
      provider: "hooks",
      name: "c",
      secret: { signingSecret: secret }
    })
    const answer = await server.alpha.post("/v1/hooks/test", {
      hook: hook({ processor: { type: "url", url: endpoint.url, connectionId: made.body.connection.id } }),
      data
    })
    const [received] = endpoint.received
    assert.deepStrictEqual(received?.signedBy, [secret])
    assert.strictEqual(answer.body.request.headers["webhook-signature"], "v1,…")
    assert.notInclude(answer.text, String(received?.headers["webhook-signature"]).slice(3))
    assert.notInclude(answer.text, secret.slice(6))
  })

  it("says whether the hook's match fits, and asks in any case", async () => {
    endpoint.answers(allow())
    assert.isTrue(
      (
        await test({
          match: { tools: ["payments.*"], conditions: [{ path: "/amount", op: "gt", value: 50 }] },
          enabled: false
        })
      ).matched
    )
    assert.isFalse((await test({ match: { tools: ["mail.*"] } })).matched)
    assert.lengthOf(endpoint.received, 2)
  })

  it("shows the last of several attempts, and what onError makes of them", async () => {
    endpoint.answers(status(500))
    const { outcome, request, response } = await test({ onError: "ask", asyncTimeoutMs: 5_000 })
    assert.deepInclude(outcome, {
      decision: "ask",
      failed: true,
      ask: { target: "person", timeoutMs: 5_000, onTimeout: "deny" }
    })
    assert.deepStrictEqual([request.body.attempt, response.status], [3, 500])
  })

  it("shows an answer that is none, and a silence", async () => {
    endpoint.answers(garbage())
    const { outcome, response } = await test()
    assert.isTrue(outcome.failed)
    assert.strictEqual(response.body, "}{ this is no answer")
    endpoint.answers(after(3_000, allow()))
    assert.notProperty(await test({ timeoutMs: 1_000 }), "response")
  })

  it("shows a rewrite at every point", async () => {
    for (const [sample, value] of [
      [
        { point: "before_turn_start", content: [{ type: "text", text: "hi" }], submitMode: "queue" },
        { content: [{ type: "text", text: "ho" }] }
      ],
      [data, { toolInput: { amount: 1 } }],
      [{ ...data, point: "after_tool_result", toolOutput: 1 }, { toolOutput: null }],
      [
        {
          point: "after_model_response",
          content: [{ type: "text", text: "hi" }],
          modelId: "a/b",
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
        },
        { content: [{ type: "text", text: "ho" }] }
      ]
    ] as const) {
      endpoint.answers(rewrite(value))
      assert.deepStrictEqual((await test({ point: sample.point }, sample)).outcome.rewrite, value)
    }
  })

  it("of a client asks at once, and sends nothing", async () => {
    const { outcome, ...rest } = await test({ processor: { type: "client" } })
    assert.deepInclude(outcome, {
      decision: "ask",
      latencyMs: 0,
      ask: { target: "client", timeoutMs: 86_400_000, onTimeout: "deny" }
    })
    assert.deepStrictEqual(rest, { matched: true })
  })

  for (const [what, body, path] of [
    ["no hook", { data }, "hook"],
    ["no data", { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } } }, "data"],
    [
      "data of another point",
      { hook: { name: "h", point: "before_turn_start", processor: { type: "client" } }, data },
      "data.point"
    ],
    [
      "a hook that is none",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" }, timeoutMs: 1_000 }, data },
      "hook.timeoutMs"
    ],
    [
      "a URL of cloud metadata",
      {
        hook: { name: "h", point: "before_tool_call", processor: { type: "url", url: "http://169.254.169.254/" } },
        data
      },
      "hook.processor.url"
    ],
    [
      "an unknown field",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } }, data, threadId: "t" },
      "threadId"
    ],
    [
      "an unknown field in the data",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } }, data: { ...data, more: 1 } },
      "data.more"
    ]
  ] as const) {
    it(`refuses ${what}`, async () =>
      refused(await server.alpha.post("/v1/hooks/test", body), 400, "invalid_request", path))
  }

  it("refuses a URL that is never asked with the rule that it breaks, in profiles too", async () => {
    const processor = { type: "url", url: "http://169.254.169.254/" }
    const tried = await server.alpha.post("/v1/hooks/test", {
      hook: { name: "h", point: "before_tool_call", processor },
      data
    })
    assert.deepStrictEqual([tried.status, tried.body.code], [400, "forbidden_address"])
    const hooks = [
      { name: "h", point: "before_tool_call", processor: { type: "client" } },
      { name: "h", point: "before_tool_call", processor }
    ]
    const { id } = (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile
    for (const answer of [
      await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], hooks }),
      await server.alpha.patch(`/v1/profiles/${id}`, { hooks })
    ]) {
      refused(answer, 400, "invalid_request", "hooks[1].processor.url")
      assert.strictEqual(answer.body.code, "forbidden_address")
    }
  })

  it("is for those who may write profiles", async () => {
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })
    refused(await reader.post("/v1/hooks/test", { hook: hook(), data }), 403, "permission_denied")
    assert.lengthOf(endpoint.received, 0)
  })

  it("is sent once for an Idempotency-Key", async () => {
    endpoint.answers(allow())
    const send = () => server.alpha.post("/v1/hooks/test", { hook: hook(), data }, { "idempotency-key": "dry" })
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual([a.text, b.headers.get("idempotency-replayed")], [b.text, "true"])
    assert.lengthOf(endpoint.received, 1)
  })
})
