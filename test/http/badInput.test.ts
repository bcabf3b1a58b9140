/**
 * Any request at all, made from the OpenAPI document that the server serves, is answered as the document says: with a
 * status, headers and a body that it knows, never by a fault of the server, and soon. What the document forbids is
 * refused; what it allows is refused for no shape, only by rules that it has no words for (meaning.ts). TROUPE_REQUESTS
 * says how many are sent (1,500; 25,000 take two minutes), TROUPE_TEST_SEED which ones.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { scopes } from "../../src/keys/scopes.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { headersOf, objectAt, type Operation, operations as every, schemas, titleOf } from "./document.ts"
import { furnish, type Ids, pathWith } from "./everything.ts"
import { faults, isObject, schemaAt } from "./jsonSchema.ts"
import { isOfMeaning } from "./meaning.ts"
import { Known } from "./known.ts"
import { type Credential, type Request, requests } from "./requests.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const total = Number(process.env.TROUPE_REQUESTS ?? 1_500)
const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** What creates first, what ends things last. */
const rank = ({ method, path }: Operation) =>
  method === "DELETE"
    ? 4
    : /(cancel|approve|deny)$/.test(path)
      ? 3
      : method === "POST" && !path.includes("{")
        ? 0
        : method === "POST"
          ? 1
          : 2
const operations = [...every].sort((a, b) => rank(a) - rank(b))

/** What only few can be asked for: threads at rest (`outlive`), roles and a profile that nothing uses. */
const rare = new Map([
  ["DELETE /v1/threads/{threadId}", "thr_"],
  ["POST /v1/threads/{threadId}/compact", "thr_"],
  ["PATCH /v1/roles/{roleId}", "role_"],
  ["DELETE /v1/roles/{roleId}", "role_"],
  ["DELETE /v1/profiles/{profileId}", "prof_"]
])

/** In rounds, so that what one round has ended is there for the next. */
const rounds = Math.ceil(total / 5_000)
const runs = Math.ceil(total / operations.length / rounds)

/** How long an answer may take that was not asked to wait. */
const soonMs = 2_000

const known = new Known()
/** How often an operation was carried out and refused. */
const done = new Map<Operation, { readonly carried: number; readonly refused: number }>()

const tokens = new Map<Credential, string>()
/** An agent, a thread that failed, and one that runs with inputs behind it. */
const inhabit = async (client: Client, models?: ReadonlyArray<string>) => {
  const agent = await makeAgent(client, models, { budget: { limit: 1, window: "24h" } })
  const running = await makeThread(client, agent, { message: { content: [{ type: "text", text: "/wait 600s" }] } })
  const failed = await makeThread(client, agent, {
    message: { content: [{ type: "text", text: "/fail model_error on purpose" }] }
  })
  const inputs = [await submit(client, running, "one"), await submit(client, running, "two")]
  return { running, ids: [agent, failed, running], inputs }
}
const idsOf = (found: Ids) => Object.values(found).filter((id) => id.length > 26)
/** A workspace has 64 roles and 20 webhooks, and a walk makes more: roles that nothing uses leave, and old webhooks. */
const clear = async () => {
  const leave = async (path: string) => {
    if ((await server.alpha.delete(path)).status === 204) known.own.forget(path.slice(path.lastIndexOf("/") + 1))
  }
  const roles: ReadonlyArray<{ readonly id: string; readonly builtIn?: true }> = (
    await server.alpha.get("/v1/roles?limit=200")
  ).body.roles
  for (const { builtIn, id } of roles) if (builtIn === undefined) await leave(`/v1/roles/${id}`)
  const webhooks: ReadonlyArray<{ readonly id: string }> = (await server.alpha.get("/v1/webhooks?limit=200")).body
    .webhooks
  for (const { id } of webhooks.slice(15)) await leave(`/v1/webhooks/${id}`)
}
/** A request may have put rules by which the next ones park. */
const parkNothing = async () => {
  assert.strictEqual((await server.alpha.put("/v1/approval-policy", { rules: [] })).status, 200)
}
/** What only some operations lead on from: a note that was replaced, threads and a profile whose work is over. */
const outlive = async ({ agentId, versionId }: Ids) => {
  const { alpha } = server
  for (const path of [`/v1/agents/${agentId}/memory/entry?key=k`, "/v1/memory/entry?key=k"])
    assert.strictEqual((await alpha.put(path, { value: "w" })).status, 200)
  const begun = { message: { content: text("Hello") } }
  const [idle, archived] = [await makeThread(alpha, agentId!, begun), await makeThread(alpha, agentId!, begun)]
  for (const words of ["two", "three"]) await submit(alpha, idle, words)
  await logOf(alpha, idle, ended(3))
  await logOf(alpha, archived, ended(1))
  assert.strictEqual((await alpha.post(`/v1/threads/${archived}/archive`)).status, 200)
  const { profile } = (await alpha.post("/v1/profiles", { name: "Unused", models: ["troupe/scripted"] })).body
  known.own.add(idle, archived, profile.id)
  known.addTo(agentId!, versionId!)
}
/** One of everything, with a call that a client owes and a decision that is asked for. */
const settle = async () => {
  await clear()
  const found = await furnish(server.alpha)
  known.own.add(...idsOf(found))
  known.addTo(found.threadId!, found.inputId!, found.waitId!)
  known.addTo(found.agentId!, found.scheduleId!, found.subscriptionId!, found.versionId!, found.imageId!)
  await outlive(found)
  known.addTo(found.webhookId!, found.webhookDeliveryId!)
}
/** What the server says went wrong by its own fault, also where no answer tells of it: a turn, a chore. */
const broke: Array<string> = []
const write = (line: string) => {
  if (/"level":"(?:error|fatal)"/.test(line)) broke.push(line)
}
const server = await during(startServer({ lines: { write, flush: () => {} } }))
const { alpha, beta } = server
await settle()
known.foreign.add(...idsOf(await furnish(beta)))
await inhabit(alpha, ["troupe/scripted-paid"])
for (const scope of scopes)
  tokens.set(scope, (await server.client(server.workspaces.alpha, { scopes: [scope] })).token ?? "")
const token = alpha.token ?? ""
tokens
  .set("all", token)
  .set("beta", beta.token ?? "")
  .set("lease", "trl_0123")
  .set("delivery", "trd_0123")
  .set("unknown", `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`)

const send = async (method: string, { body, credential, headers, path }: Request) => {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new Error("no answer in ten seconds")), 10_000)
  const began = performance.now()
  const token = tokens.get(credential)
  try {
    const response = await fetch(server.base + path, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      signal: stop.signal,
      ...(body !== undefined && method !== "GET" && { body })
    })
    const type = response.headers.get("content-type") ?? ""
    // A stream does not end by itself.
    const text = type.startsWith("text/event-stream")
      ? new TextDecoder().decode((await response.body?.getReader().read())?.value)
      : await response.text()
    return { status: response.status, headers: response.headers, type, text, ms: performance.now() - began }
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}
type Answer = Awaited<ReturnType<typeof send>>

/** The frames of a stream's beginning. */
const framesOf = (text: string) =>
  text
    .split("\n\n")
    .map((block) =>
      Object.fromEntries(
        [...block.matchAll(/^(id|event|data): (.*)$/gm)].map(([, field = "", value = ""]) => [field, value])
      )
    )
    .filter((frame) => "event" in frame)

/** Words of a 400 that are about the state of what a path leads to, not about the request. */
const ofState: ReadonlyArray<{ readonly path: RegExp; readonly says: RegExp }> = [
  { path: /\/(?:resolve|decision|result)$/, says: /^wait_type_mismatch / },
  { path: /\/promote$/, says: /^model_not_allowed_with_steer / },
  { path: /\/memory\/entry/, says: /^key_required |^invalid_request expectedVersion: differs / },
  { path: /\/memory\/search$/, says: /^invalid_request q: is required/ },
  { path: /\/toolsets\/[^/]+$/, says: /^invalid_request \w+: only a toolset of kind \w+ has it/ },
  { path: /\/webhooks\//, says: /^invalid_request the webhook is disabled/ },
  { path: /\/keys\/[^/]+\/rotate$/, says: /^invalid_request the key has ended/ }
]

const isShape = (
  operation: Operation,
  { sent }: Request,
  { error, message }: { readonly error: string; readonly message: string }
) =>
  !ofState.some(({ path, says }) => path.test(operation.path) && says.test(`${error} ${message}`)) &&
  !isOfMeaning(operation, sent, message)

/** Sent with every answer, or by the connection itself: HTTP's own. */
const ofHttp = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"])

/** What is wrong with an answer, by the document. */
const judge = (operation: Operation, sent: Request, { headers, status, text, type }: Answer): ReadonlyArray<string> => {
  if (status >= 500) return ["a fault of the server"]
  const response = schemaAt(operation.responses, String(status))
  const errors = faults(
    schemas.ErrorResponse ?? {},
    status >= 400 ? JSON.parse(text) : { error: "", message: "" },
    schemas,
    true
  )
  // The listener's own refusal, before there is a path to speak of; and another path, whose segment is no text at all,
  // or none.
  if (
    (status === 431 && JSON.stringify([sent.path, sent.headers]).length > 10_000) ||
    status === 405 ||
    (status === 404 && /no such path/.test(text))
  )
    return errors
  if (response === undefined) return ["its status is not in the document"]
  const wrong = [...errors]
  const declared = headersOf(response)
  for (const [name, header] of declared)
    if (header.required === true && !headers.has(name)) wrong.push(`it has no ${name}`)
  for (const name of headers.keys())
    if (!ofHttp.has(name) && !declared.some(([known]) => known.toLowerCase() === name))
      wrong.push(`its header ${name} is not in the document`)
  const schema = schemaAt(objectAt(response, "content", "application/json"), "schema")
  const frame = schemaAt(objectAt(response, "content", "text/event-stream"), "schema")
  if (frame !== undefined) {
    if (!type.startsWith("text/event-stream") || framesOf(text).length === 0) wrong.push("it is no stream")
    for (const one of framesOf(text)) wrong.push(...faults(frame, one, schemas, true))
  } else if (type !== "" && schemaAt(objectAt(response, "content", type), "schema")?.format === "binary") {
    if (text === "") wrong.push("it has no body")
  } else if (schema === undefined) {
    if (text !== "") wrong.push("it has a body that is not in the document")
  } else if (!type.startsWith("application/json")) wrong.push(`it is ${type}`)
  else {
    const body: unknown = JSON.parse(text)
    wrong.push(...faults(schema, body, schemas, true))
    if (status >= 400 && isObject(body)) {
      if (/[\p{Cc}\p{Cs}]/u.test(String(body.message))) wrong.push("its message has control characters")
      // The name of a schema says nothing to whoever is to send something else.
      const [named] = /expected [A-Z]\w+/.exec(String(body.message)) ?? []
      if (named !== undefined && named.split(" ")[1]! in schemas) wrong.push(`its message names a schema: ${named}`)
      if (String(body.message).length >= 1_000) wrong.push("its message is long")
      if ("retryAfterSeconds" in body && headers.get("retry-after") !== String(body.retryAfterSeconds))
        wrong.push("Retry-After is not retryAfterSeconds")
    }
  }
  if (sent.fits && status === 400 && isShape(operation, sent, JSON.parse(text))) wrong.push("the document allows it")
  if (sent.forbidden.length > 0 && status < 400) wrong.push(`the document forbids it: ${sent.forbidden.join("; ")}`)
  if (["none", "unknown"].includes(sent.credential) && status !== 401) wrong.push("it is for nobody")
  return wrong
}

const hold = async (operation: Operation, sent: Request) => {
  let answer = await send(operation.method, sent)
  const seen = `${sent[fc.toStringMethod]()}\n-> ${answer.status} ${answer.text.slice(0, 1500)}`
  assert.deepStrictEqual(judge(operation, sent, answer), [], seen)
  const count = done.get(operation) ?? { carried: 0, refused: 0 }
  done.set(
    operation,
    answer.status < 300 ? { ...count, carried: count.carried + 1 } : { ...count, refused: count.refused + 1 }
  )
  if (answer.status < 300 && sent.credential !== "beta") known.learn(operation, sent.path, answer.text)
  // A machine that is busy is slow once; a request that makes the server slow does so each time.
  for (let again = 0; again < 2 && answer.ms > soonMs; again++) answer = await send(operation.method, sent)
  assert.isBelow(answer.ms, soonMs, `too slow: ${seen}`)
}

describe.each(Array.from({ length: rounds }, (_, round) => seed + round))(
  "any request is answered as the document says (TROUPE_TEST_SEED=%d)",
  (seed) => {
    it.each(operations.map((operation, index) => [titleOf(operation), operation, index] as const))(
      "%s",
      { timeout: 60_000 + runs * 200 },
      async (_, operation, index) => {
        await parkNothing()
        // What the ones before have ended is there again.
        if (operation.names.length > 0) {
          const { ids, inputs, running } = await inhabit(server.alpha)
          known.own.add(...ids)
          for (const { id, turnId } of inputs) {
            known.addTo(running, id)
            known.own.add(turnId)
          }
        }
        // A wait is answered once, an archived thread deleted once, and one at rest is soon behind many that are not.
        const isOnce = operation.names.some((name) => ["waitId", "toolCallId", "deliveryId"].includes(name))
        const scarce = rare.get(titleOf(operation))
        if (isOnce || scarce !== undefined) await settle()
        if (scarce !== undefined) known.own.keepNewest(scarce, 4)
        const limits = { numRuns: runs, seed: seed + 1_000 * index, interruptAfterTimeLimit: 55_000 + runs * 200 }
        await fc.assert(
          fc.asyncProperty(requests(operation, known), (sent) => hold(operation, sent)),
          limits
        )
      }
    )
  }
)

it.runIf(total >= 10_000)("every operation was carried out, and refused (needs TROUPE_REQUESTS=10000 or more)", () => {
  const missed = operations.filter(
    (operation) => done.get(operation)?.carried === 0 || done.get(operation)?.refused === 0
  )
  // What is decided here never parked.
  assert.deepStrictEqual(missed.map(titleOf), [
    "POST /v1/operations/{operationId}/deny",
    "POST /v1/operations/{operationId}/cancel"
  ])
})

it("nothing broke behind an answer: the server's log has no error", () => {
  assert.deepStrictEqual(broke, [])
})

it("the server works as before", async () => {
  await parkNothing()
  await server.alpha.put("/v1/memory/entry?key=k", { value: "v" })
  for (const { method, names, path } of operations) {
    if (method !== "GET" || names.length > 0 || path.endsWith("/stream")) continue
    assert.strictEqual((await server.alpha.get(pathWith(path, {}))).status, 200, path)
  }
  const thread = await makeThread(server.alpha, await makeAgent(server.alpha), {
    message: { content: [{ type: "text", text: "Still there?" }] }
  })
  const page = await server.alpha.get(`/v1/threads/${thread}/events?afterSeq=2&waitSeconds=10`)
  assert.deepStrictEqual(
    page.body.events.map(({ type }: { readonly type: string }) => type),
    ["turn_completed"]
  )
})
