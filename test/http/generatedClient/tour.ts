/**
 * A tour of the interface by a client that knows nothing but the OpenAPI document: its types are
 * generated from what the server serves (test/http/openapi.test.ts), and it runs as a process of its
 * own. TROUPE_URL and TROUPE_KEY say where and as whom.
 */
import type { components, paths } from "openapi-document"
import createClient from "openapi-fetch"
import assert from "node:assert/strict"

type Schemas = components["schemas"]

const { TROUPE_KEY: key = "", TROUPE_URL: baseUrl = "" } = process.env
const clientOf = (token: string) => createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const client = clientOf(key)

/** The body of a 2xx. */
const got = <Data>(result: { data: Data; response: Response; error?: never } | { data?: never; response: Response; error: Schemas["ErrorResponse"] }): Data => {
  assert.ok(result.error === undefined, `${result.response.status} ${JSON.stringify(result.error)}`)
  return result.data
}

/** The body of a refusal. */
const refused = (result: { response: Response; error?: Schemas["ErrorResponse"] }, status: number, word: string) => {
  assert.deepEqual([result.response.status, result.error?.error], [status, word], JSON.stringify(result.error))
}

/** What a call answers that workspaces may park for approval: nothing is parked here. */
const direct = <Data extends object>(data: Data | Schemas["OperationHandle"]): Data => {
  if ("operation" in data) assert.fail(`parked: ${JSON.stringify(data)}`)
  return data
}

const text = (words: string): Schemas["MessageContent"] => [{ type: "text", text: words }]
const wordsOf = (content: Schemas["QueuedMessage"]["content"]) => content.map((block) => block.type === "text" ? block.text : block.imageId).join(" ")

// Who am I, and which models are there?
const context = got(await client.GET("/v1/auth"))
assert.equal(context.scheme, "APIKeyBearer")
assert.ok(context.scopes.includes("admin"))
const { models } = got(await client.GET("/v1/models", { params: { query: { limit: 200 } } }))
assert.equal(models.find((model) => model.id === "troupe/scripted")?.pricing?.input, 0)

// A profile and an agent that follows it.
const { profile } = got(await client.POST("/v1/profiles", { body: { name: "Guide", models: ["troupe/scripted"], systemPrompt: "Be brief." } }))
const made = await client.POST("/v1/agents", { body: { name: "Guide", profileId: profile.id, tags: ["tour"], budget: { limit: 5, window: "24h" } } })
const { agent } = direct(got(made))
assert.equal(made.response.headers.get("location"), `/v1/agents/${agent.id}`)
const found = await client.GET("/v1/agents/{agentId}", { params: { path: { agentId: agent.id } } })
assert.deepEqual(direct(got(found)).agent, agent)
const patched = got(await client.PATCH("/v1/agents/{agentId}", {
  params: { path: { agentId: agent.id }, header: { "If-Match": found.response.headers.get("etag") ?? "" } }, body: { description: "Shows you around", tags: null }
}))
assert.deepEqual([direct(patched).agent.description, direct(patched).agent.tags], ["Shows you around", []])
refused(await client.PATCH("/v1/agents/{agentId}", { params: { path: { agentId: agent.id }, header: { "If-Match": `"0"` } }, body: { name: "No" } }), 412, "precondition_failed")
const next = got(await client.PATCH("/v1/profiles/{profileId}", { params: { path: { profileId: profile.id } }, body: { systemPrompt: null } }))
assert.equal(next.profile.version, 2)
const { versions } = got(await client.GET("/v1/profiles/{profileId}/versions", { params: { path: { profileId: profile.id } } }))
assert.deepEqual(versions.map(({ version }) => version), [2, 1])

// A thread that starts at once, and what is said to it while its first turn runs.
const created = got(await client.POST("/v1/threads", {
  params: { header: { "Idempotency-Key": "tour-thread" } },
  body: { agentId: agent.id, title: "A tour", metadata: { from: "openapi" }, message: { content: text("/wait 20s\nA") } }
}))
const threadId = created.thread.id
const thread = { path: { threadId } }
const turnA = created.input?.turnId
assert.equal(created.input?.state, "admitted")
const submit = async (words: string, more: Omit<Schemas["MessageInput"], "content"> = {}) =>
  got(await client.POST("/v1/threads/{threadId}/messages", { params: thread, body: { content: text(words), ...more } }))
const q = await submit("Q")
const p = await submit("P", { mode: "queue", model: "troupe/scripted" })
const s = await submit("S", { mode: "steer", ...(turnA !== undefined && { expectedTurnId: turnA }) })
assert.deepEqual([q.state, p.state, s.state], ["queued", "queued", "steered"])
refused(
  await client.POST("/v1/threads/{threadId}/messages", { params: thread, body: { content: text("no"), mode: "steer", model: "troupe/scripted" } }),
  400, "model_not_allowed_with_steer"
)

// The queue: read, edit, remove, promote.
const item = (inputId: string) => ({ path: { threadId, inputId } })
const queue = got(await client.GET("/v1/threads/{threadId}/queue", { params: thread }))
assert.deepEqual(new Set(queue.map(({ id }) => id)), new Set([q.id, p.id, s.id]))
const edited = got(await client.PATCH("/v1/threads/{threadId}/queue/{inputId}", { params: item(q.id), body: { content: text("Q, edited") } }))
assert.equal(wordsOf(edited.content), "Q, edited")
const gone = await submit("removed")
got(await client.DELETE("/v1/threads/{threadId}/queue/{inputId}", { params: item(gone.id) }))
assert.equal(got(await client.GET("/v1/threads/{threadId}/queue/{inputId}", { params: item(gone.id) })).state, "cancelled")
const promoted = got(await client.POST("/v1/threads/{threadId}/queue/{inputId}/promote", { params: item(p.id), body: { mode: "interrupt" } }))
assert.equal(promoted.state, "admitted")
refused(await client.PATCH("/v1/threads/{threadId}/queue/{inputId}", { params: item(p.id), body: { content: text("late") } }), 409, "input_not_pending")

// The log, by long poll, until four turns have ended; then by pages, which say the same.
const until = async (turns: number) => {
  const log: Array<Schemas["ThreadEvent"]> = []
  for (const deadline = Date.now() + 15_000; log.filter(({ type }) => /^turn_/.test(type)).length < turns;) {
    assert.ok(Date.now() < deadline, `the log did not get there: ${log.map(({ type }) => type).join(" ")}`)
    const page = got(await client.GET("/v1/threads/{threadId}/events", { params: { ...thread, query: { afterSeq: log.at(-1)?.seq ?? 0, waitSeconds: 5 } } }))
    log.push(...page.events)
  }
  return log
}
const log = await until(4)
assert.deepEqual(log.map((event) => event.type === "user_message" ? `user ${wordsOf(event.content)}` : event.type), [
  "user /wait 20s\nA", "turn_cancelled",
  "user P", "assistant_message", "turn_completed",
  "user S", "assistant_message", "turn_completed",
  "user Q, edited", "assistant_message", "turn_completed"
])
const pages: Array<Schemas["ThreadEvent"]> = []
for (let cursor: string | undefined, more = true; more;) {
  const page = got(await client.GET("/v1/threads/{threadId}/events", { params: { ...thread, query: cursor === undefined ? { limit: 4 } : { limit: 4, cursor } } }))
  pages.push(...page.events)
  cursor = page.nextCursor
  more = cursor !== undefined
}
assert.deepEqual(pages, log)
refused(await client.GET("/v1/threads/{threadId}/events", { params: { ...thread, query: { afterSeq: 1, order: "desc" } } }), 400, "invalid_request")

// A stream of it, from the start.
const stream = await client.GET("/v1/threads/{threadId}/events/stream", { params: { ...thread, query: { afterSeq: 0 } }, parseAs: "stream" })
assert.match(stream.response.headers.get("content-type") ?? "", /^text\/event-stream/)
const reader = stream.data?.pipeThrough(new TextDecoderStream()).getReader()
assert.ok(reader !== undefined)
for (let frames = ""; !frames.includes("turn_cancelled");) {
  const { done, value } = await reader.read()
  assert.ok(!done)
  frames += value
}
await reader.cancel()

// Where the thread stands; its title; the list that it is in.
const detail = direct(got(await client.GET("/v1/threads/{threadId}", { params: thread })))
assert.deepEqual([detail.status, detail.lastSeq, detail.queued, detail.pendingWaits, detail.inFlightWaitIds], ["idle", log.length, [], [], []])
assert.deepEqual([detail.budgetSpend.window, detail.usage.estimatedCost], ["24h", 0])
const renamed = got(await client.PATCH("/v1/threads/{threadId}", { params: thread, body: { title: null, metadata: { from: null, to: "client" } } }))
assert.deepEqual([renamed.thread.title, renamed.thread.metadata], [undefined, { to: "client" }])
const { threads } = got(await client.GET("/v1/threads", { params: { query: { agentId: agent.id } } }))
assert.deepEqual(threads.map((summary) => [summary.thread.id, summary.status]), [[threadId, "idle"]])

// Cancel, fail, retry.
refused(await client.POST("/v1/threads/{threadId}/retry", { params: thread }), 409, "nothing_to_retry")
const long = await submit("/wait 20s\nlong")
const cancelled = got(await client.POST("/v1/threads/{threadId}/cancel", { params: thread, body: { turnId: long.turnId } }))
assert.equal(cancelled.status, "cancelled")
got(await client.POST("/v1/threads/{threadId}/cancel", { params: thread }))
await submit("/fail model_error no luck")
const failed = (await until(6)).at(-1)
assert.ok(failed?.type === "turn_failed")
// An event has the fields of its type.
assert.deepEqual([failed.failureCode, failed.failureDetails], ["model_error", undefined])
const again = got(await client.POST("/v1/threads/{threadId}/retry", { params: thread }))
assert.equal(wordsOf(again.content), "/fail model_error no luck")
assert.deepEqual((await until(7)).filter(({ turnId }) => turnId === again.turnId).map(({ type }) => type), ["user_message", "turn_failed"])

// Identities and the operations that answer for them.
const identity = "guest@example.com"
const disabled = got(await client.POST("/v1/identities/disable", { body: { identity } }))
assert.deepEqual([disabled.operation.state, disabled.operation.action, disabled.operation.result?.status], ["completed", "identity.disable", 200])
refused(await client.POST("/v1/auth/keys", { body: { name: "Guest", scopes: ["read"], identity } }), 403, "identity_disabled")
const polled = got(await client.GET("/v1/operations/{operationId}", { params: { path: { operationId: disabled.operation.id }, query: { waitSeconds: 1 } } }))
assert.deepEqual(polled, disabled)
refused(await client.POST("/v1/operations/{operationId}/cancel", { params: { path: { operationId: disabled.operation.id } } }), 409, "operation_resolved")
got(await client.POST("/v1/identities/enable", { body: { identity } }))
const { operations } = got(await client.GET("/v1/operations", { params: { query: { state: "completed" } } }))
assert.deepEqual(operations.map(({ action }) => action), ["identity.enable", "identity.disable"])
const { identities } = got(await client.GET("/v1/identities"))
assert.equal(identities.find((record) => record.identity === identity)?.disabled, false)

// Keys: shown once, of no use once revoked.
const { key: guestKey, token } = got(await client.POST("/v1/auth/keys", { body: { name: "Guest", scopes: ["read"], identity } }))
const guest = clientOf(token)
assert.equal(got(await guest.GET("/v1/auth")).principal.identity, identity)
refused(await guest.POST("/v1/profiles", { body: { name: "No", models: ["troupe/scripted"] } }), 403, "permission_denied")
const { keys } = got(await client.GET("/v1/auth/keys"))
assert.ok(keys.some(({ id }) => id === guestKey.id))
got(await client.DELETE("/v1/auth/keys/{keyId}", { params: { path: { keyId: guestKey.id } } }))
refused(await guest.GET("/v1/auth"), 401, "unauthenticated")

// The end of the agent.
got(await client.DELETE("/v1/agents/{agentId}", { params: { path: { agentId: agent.id } } }))
refused(await client.POST("/v1/threads", { body: { agentId: agent.id } }), 409, "agent_archived")
refused(await client.GET("/v1/threads/{threadId}", { params: { path: { threadId: threadId.replace(/.$/, "1") } } }), 404, "not_found")

console.log("the tour is over")
