/**
 * Whatever a client sends: a 4xx with an ErrorResponse, or what the contract says; never a 500, nothing half-written.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { afterAll, beforeAll } from "vitest"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { makeAgent, makeThread, submit } from "./threadFixture.ts"
import { makeWorker } from "./toolFixture.ts"
import { asking, furnish, parked, type Wait } from "./waitFixture.ts"

let server: TestServer
let alpha: Client
let agentId: string
let threadId: string
let inputId: string
/** Of another thread: of a client's call, and of a client's ask. */
let waiting: { readonly threadId: string; readonly call: Wait; readonly ask: Wait }
beforeAll(async () => {
  server = await startServer()
  alpha = server.alpha
  agentId = await makeAgent(alpha)
  threadId = await makeThread(alpha, agentId)
  await submit(alpha, threadId, "/wait 600s\nbusy")
  inputId = (await submit(alpha, threadId, "waits")).id
  const { toolsetId, tool } = await furnish(alpha, "desk")
  const asked = await makeWorker(alpha, {
    toolsetIds: [toolsetId],
    hooks: [asking("before_tool_call", { match: { tools: ["*.sign"] } })]
  })
  const { threadId: thread, waits } = await parked(alpha, asked, [tool("stamp"), tool("sign")], 2)
  const [call, ask] = ["client_tool", "hook_ask"].map((type) => waits.find((wait) => wait.type === type))
  waiting = { threadId: thread, call: call!, ask: ask! }
})
afterAll(() => server.stop())

/** fast-check prints the seed of a run that fails. */
const runs = { numRuns: 150 }

const fine = (answer: Awaited<ReturnType<Client["send"]>>, what: string) => {
  assert.isBelow(answer.status, 500, `${what}: ${answer.text}`)
  if (answer.status >= 400) {
    assert.isString(answer.body.error, what)
    assert.isString(answer.body.message, what)
    assert.isBelow(answer.body.message.length, 1_000, what)
  }
}

const words = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", " ", "\u0000", "\ud800", "__proto__", "constructor", "\uffff", "null")
)
const anything = fc.oneof(
  fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }),
  words,
  fc.constantFrom(1e308, -0, 1e-320, Number.MAX_SAFE_INTEGER + 2, -1, 0.1, [], {}, [[]], null, true)
)

/** A valid body with one place, at any depth, replaced, removed or added. */
const changed = (valid: unknown): fc.Arbitrary<unknown> => {
  if (typeof valid !== "object" || valid === null) return anything
  const entries = Object.entries(valid)
  const rebuilt = (next: ReadonlyArray<readonly [string, unknown]>) =>
    Array.isArray(valid) ? next.map(([, value]) => value) : Object.fromEntries(next)
  const deeper = entries.map(([key, value], i) =>
    changed(value).map((other) => rebuilt(entries.map((entry, j) => (j === i ? ([key, other] as const) : entry))))
  )
  return fc.oneof(
    ...deeper,
    ...(entries.length === 0
      ? []
      : [fc.nat({ max: entries.length - 1 }).map((i) => rebuilt(entries.filter((_, j) => j !== i)))]),
    fc.tuple(words, anything).map(([key, value]) => rebuilt([...entries, [key, value]])),
    anything
  )
}

const content = [
  { type: "text", text: "hello" },
  { type: "image", imageId: `img_${"a".repeat(64)}` }
]
const origin = { provider: "slack", tenantId: "T", senderId: "S", channelId: "C" }
const turnId = `trn_${"0".repeat(26)}`

const hook = {
  name: "h",
  point: "before_tool_call",
  match: { tools: ["a.*"], conditions: [{ path: "/a/0", op: "in", value: [1, "x", null] }] },
  processor: { type: "url", url: "https://hooks.example.com/?a=b" },
  onError: "ask",
  onTimeout: "allow",
  asyncTimeoutMs: 1_000,
  enabled: true
}

const bodies: ReadonlyArray<readonly [string, () => string, object]> = [
  [
    "POST",
    () => "/v1/threads",
    {
      agentId: "agt_x",
      identity: "ann",
      maxCost: 1,
      title: "t",
      metadata: { a: "b" },
      model: "a/b",
      profileVersion: 1,
      message: { content, origin }
    }
  ],
  ["PATCH", () => `/v1/threads/${threadId}`, { title: "t", metadata: { a: "b", c: null }, maxCost: 1 }],
  ["POST", () => `/v1/threads/${threadId}/cancel`, { turnId, clearQueue: false }],
  [
    "POST",
    () => `/v1/threads/${threadId}/messages`,
    { content, mode: "queue", model: "a/b", expectedTurnId: turnId, origin }
  ],
  ["PATCH", () => `/v1/threads/${threadId}/queue/${inputId}`, { content }],
  ["POST", () => `/v1/threads/${threadId}/queue/${inputId}/promote`, { mode: "steer", expectedTurnId: turnId }],
  [
    "POST",
    () => "/v1/profiles",
    {
      name: "P",
      models: ["@a"],
      families: ["thread"],
      roleIds: [`role_${"0".repeat(25)}1`],
      toolsetIds: [],
      hooks: [hook, { ...hook, processor: { type: "client" } }]
    }
  ],
  [
    "POST",
    () => `/v1/threads/${waiting?.threadId}/waits/${waiting?.ask.id}/resolve`,
    { type: "decision", decision: "allow", reason: "r", rewrite: { toolInput: { document: 1 } }, scope: "thread" }
  ],
  [
    "POST",
    () => `/v1/threads/${waiting?.threadId}/waits/${waiting?.call.id}/resolve`,
    { type: "tool_result", output: "not a number" }
  ],
  [
    "POST",
    () => `/v1/threads/${waiting?.threadId}/waits/${waiting?.call.id}/resolve`,
    { type: "tool_result", error: { code: "c d", message: "m" } }
  ],
  [
    "POST",
    () => `/v1/hooks/waits/${waiting?.ask.id}/resolve`,
    { decision: "deny", rewrite: { content: [{ type: "text", text: "x" }] } }
  ],
  [
    "POST",
    () => `/v1/hooks/deliveries/dlv_${waiting?.ask.id.slice(5)}/decision`,
    { decision: "allow", reason: "r", rewrite: { toolOutput: { a: [1] } } }
  ],
  ["POST", () => `/v1/tools/calls/${waiting?.call.toolCallId}/result`, { output: { a: [1] } }],
  [
    "POST",
    () => "/v1/hooks/test",
    {
      hook: { ...hook, processor: { type: "client" } },
      data: { point: hook.point, toolCallId: "c", toolName: "a.b", toolInput: { a: [1, null] } }
    }
  ]
]

describe("a body that is anything", () => {
  for (const [method, path, valid] of bodies) {
    it(`is answered with what is wrong by ${method} ${path().replace(/undefined/g, "…")}`, async () => {
      await fc.assert(
        fc.asyncProperty(changed(valid), async (body) => {
          const text = JSON.stringify(body) ?? "null"
          fine(await alpha.send(method, path(), text), text)
        }),
        runs
      )
    })
  }

  it("is answered when it is bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        fine(await alpha.send("POST", `/v1/threads/${threadId}/messages`, bytes), Buffer.from(bytes).toString("hex"))
      }),
      runs
    )
  })

  it("is answered when a valid one is cut or one of its characters is another", async () => {
    const valid = JSON.stringify(bodies[3]![2])
    await fc.assert(
      fc.asyncProperty(
        fc.nat(valid.length),
        fc.string({ unit: "binary", maxLength: 1 }),
        fc.boolean(),
        async (at, character, cut) => {
          const text = cut ? valid.slice(0, at) : valid.slice(0, at) + character + valid.slice(at + 1)
          fine(await alpha.send("POST", `/v1/threads/${threadId}/messages`, text), text)
        }
      ),
      runs
    )
  })
})

describe("a path and a query that are anything", () => {
  const names = fc.oneof(
    fc.constantFrom(
      "limit",
      "cursor",
      "afterSeq",
      "order",
      "turnId",
      "waitSeconds",
      "state",
      "agentId",
      "identity",
      "types",
      "deltas"
    ),
    words
  )
  const values = fc.oneof(
    words,
    fc.integer().map(String),
    fc.bigInt().map(String),
    fc.constantFrom("asc", "desc", "waiting", "1", "0x1", "1e9", "+1", " 1", "text", "status")
  )
  const query = fc
    .array(fc.tuple(names, values), { maxLength: 4 })
    .map((pairs) => new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString())

  it("are answered by the lists", async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom("/v1/threads", "events", "queue"), async (query, list) => {
        const path = list.startsWith("/") ? list : `/v1/threads/${threadId}/${list}`
        // A valid waitSeconds may wait: the log has events, so it never does, unless afterSeq is above them.
        if (/waitSeconds=\d/.test(query) && /afterSeq=[1-9]/.test(query)) return
        fine(await alpha.get(`${path}?${query}`), `${path}?${query}`)
      }),
      { numRuns: 300 }
    )
  })

  it("are answered when the query is not even encoded", async () => {
    for (const query of [
      "?%",
      "?%ff=%ff",
      "?limit=%",
      "?a&b&c",
      "?=",
      "?&&",
      "?limit",
      "?limit=%00",
      "?cursor=%c3%28",
      `?x=${"y".repeat(8_000)}`,
      "?limit[]=1",
      "?limit=1;2"
    ]) {
      fine(await alpha.get(`/v1/threads/${threadId}/events${query}`), query)
    }
  })

  it("are answered by ids of any form", async () => {
    await fc.assert(
      fc.asyncProperty(
        words.filter((id) => !/[/?#.\\]/.test(id) && id.isWellFormed() && id !== ""),
        fc.constantFrom("", "/events", "/queue", "/queue/inp_1", "/events/stream"),
        async (id, rest) => {
          const path = `/v1/threads/${encodeURIComponent(id)}${rest}`
          const answer = await alpha.get(path)
          assert.oneOf(answer.status, [400, 404], `${path}: ${answer.text}`)
          fine(answer, path)
        }
      ),
      runs
    )
  })

  it("are answered in headers", async () => {
    for (const headers of [
      { "if-match": '"' },
      { "if-match": "W/" },
      { "if-match": "x".repeat(8_000) },
      { "idempotency-key": "\u00ff" },
      { "last-event-id": "-1" },
      { "content-type": "application/json; charset=latin1" },
      { "content-type": "multipart/form-data" },
      { "content-type": "%" }
    ])
      fine(await alpha.send("PATCH", `/v1/threads/${threadId}`, { title: "t" }, headers), JSON.stringify(headers))
  })
})
