/**
 * Any request at all, made from the OpenAPI document that the server serves: what fits it, what fits
 * it but for a detail, and what does not. More by environment: TROUPE_REQUESTS a operation.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import fc from "fast-check"
import { Api } from "../../http/Api.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { faults, fitting, isObject, listAt, type Schema, schemaAt, type Schemas } from "./jsonSchema.ts"
import { makeAgent, makeThread, submit } from "./threadFixture.ts"

const runs = Number(process.env["TROUPE_REQUESTS"] ?? 14)
const seed = Number(process.env["TROUPE_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))
const objectAt = (value: unknown, ...keys: ReadonlyArray<string>): Schema =>
  keys.reduce<Schema>((found, key) => schemaAt(found, key) ?? {}, isObject(value) ? value : {})
const schemas: Schemas = Object.fromEntries(Object.entries(objectAt(document, "components", "schemas")).filter((entry): entry is [string, Schema] => isObject(entry[1])))

interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Schema>
  readonly body: Schema | undefined
  readonly responses: Schema
}
/** What creates first, what ends things last. */
const rank = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === "DELETE" ? 4 : /(cancel|approve|deny)$/.test(path) ? 3 : method === "POST" && !path.includes("{") ? 0 : method === "POST" ? 1 : 2
const operations = Object.entries(objectAt(document, "paths")).flatMap(([path, methods]) =>
  Object.entries(isObject(methods) ? methods : {}).map(([method, operation]): Operation => ({
    method: method.toUpperCase(), path,
    parameters: listAt(objectAt(operation), "parameters").filter(isObject),
    body: schemaAt(objectAt(operation, "requestBody", "content", "application/json"), "schema"),
    responses: objectAt(operation, "responses")
  }))).sort((a, b) => rank(a) - rank(b))

/** Ids that exist, by their prefix: of this workspace, and learned from answers; and of the other one. */
const own = new Map<string, Array<string>>()
const foreign = new Map<string, Array<string>>()
const remember = (pool: Map<string, Array<string>>, ...ids: ReadonlyArray<string>) => {
  for (const id of ids) {
    const prefix = id.slice(0, -26)
    const list = pool.get(prefix) ?? []
    if (!list.includes(id)) pool.set(prefix, [...list.slice(-20), id])
  }
}
const pick = (pool: Map<string, Array<string>>, prefix: string, n: number) => {
  const list = pool.get(prefix) ?? []
  return list[n % list.length] ?? `${prefix}01m7y1svs7e0087pe32vr71000`
}
/** Threads of inputs, cursors of lists, and how often an operation was carried out and refused. */
const threadOf = new Map<string, string>()
const cursors = new Map<string, Array<string>>()
const done = new Map<Operation, { carried: number; refused: number }>()

const learn = (operation: Operation, sent: Sent, text: string) => {
  for (const [, id] of text.slice(0, 20_000).matchAll(learned)) remember(own, id!)
  const key = operation.path === "/v1/auth/keys" && operation.method === "POST" ? /"(key_[0-7][0-9a-z]{25})"/.exec(text)?.[1] : undefined
  if (key !== undefined) remember(own, key)
  const thread = /thr_[0-9a-z]{26}/.exec(sent.path)?.[0]
  if (thread !== undefined) for (const [input] of text.slice(0, 20_000).matchAll(/inp_[0-9a-z]{26}/g)) threadOf.set(input, thread)
  const cursor = /"nextCursor":"([^"]+)"/.exec(text)?.[1]
  if (cursor !== undefined) cursors.set(operation.path, [...(cursors.get(operation.path) ?? []).slice(-5), cursor])
}

const learned = /"((?:agt_|prof_|thr_|inp_|trn_|op_|conn_)[0-7][0-9a-hjkmnp-tv-z]{25})"/g

let server: TestServer
let reader: TestServer["alpha"]
/** An agent, a thread that failed, and one that runs with inputs behind it. */
const inhabit = async (client: TestServer["alpha"], pool: Map<string, Array<string>>, models?: ReadonlyArray<string>) => {
  const agent = await makeAgent(client, models, { budget: { limit: 1, window: "24h" } })
  const running = await makeThread(client, agent, { message: { content: [{ type: "text", text: "/wait 600s" }] } })
  const failed = await makeThread(client, agent, { message: { content: [{ type: "text", text: "/fail model_error on purpose" }] } })
  remember(pool, agent, failed, running)
  for (const words of ["one", "two"]) {
    const { id, turnId } = await submit(client, running, words)
    remember(pool, id, turnId)
    threadOf.set(id, running)
  }
}
const furnish = async (client: TestServer["alpha"], pool: Map<string, Array<string>>) => {
  await inhabit(client, pool, ["troupe/scripted-paid"])
  for (const profile of (await client.get("/v1/profiles")).body.profiles) remember(pool, profile.id)
  remember(pool, (await client.post("/v1/identities/disable", { identity: "nobody" })).body.operation.id)
  remember(pool, (await client.post("/v1/connections", { provider: "p", name: "C", secret: { token: "secret" }, allowedHosts: ["tools.example.com"] })).body.connection.id)
  remember(pool, (await client.post("/v1/auth/keys", { name: "lost", scopes: ["read"] })).body.key.id)
}
beforeAll(async () => {
  server = await startServer()
  await furnish(server.alpha, own)
  await furnish(server.beta, foreign)
  reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
})
afterAll(() => server.stop())

const odd = fc.constantFrom<unknown>(
  "", " ", "\u0000", "a\u0000b", "\u001b[31m", "\ud800", "\udfff\ud800", "\u202e", "x".repeat(600), "é".repeat(5000), "x".repeat(70_000), "__proto__", "%00",
  "' or 1=1 --", "/wait 1ms\n/call nope {}", null, true, 0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), [], {}, [[]], [null], { a: 1 }, { type: "text" }, { type: "image", imageId: "img_1" },
  JSON.parse("[".repeat(30) + "]".repeat(30)), Array(300).fill(""), JSON.parse(`{"__proto__":{"admin":true},"constructor":1}`)
)

/** Ids are mostly ours; some are another workspace's, or nobody's. */
const idOf = (prefix: string) =>
  fc.tuple(fc.nat(1000), fc.nat(9)).map(([n, kind]) => kind < 7 ? pick(own, prefix, n) : kind === 7 ? pick(foreign, prefix, n) : pick(new Map(), prefix, n))
const textOf = (pattern: string) => {
  const prefix = /^\^([a-z]+_)\[0-7\]/.exec(pattern)?.[1]
  if (prefix !== undefined) return idOf(prefix)
  if (pattern.startsWith("^img_")) return fc.constant(`img_${"0".repeat(64)}`)
  if (pattern.startsWith("^(?:@")) return fc.constantFrom("troupe/scripted", "troupe/scripted-paid", "troupe/*", "@fast", "nobody/none")
  if (pattern === "^[1-9]\\d{0,8}$") return fc.constantFrom("1", "2", "999999999")
  if (pattern.startsWith("^[a-z_]{1,32}\\.")) return fc.constantFrom("identity.disable", "identity.enable", "no.such")
  if (pattern.startsWith("^[a-z0-9][a-z0-9._-]")) return fc.constantFrom("example", "a.b-c_d")
  if (pattern === "^[!-~]+$") return fc.constantFrom("token", "sk-0123456789", "!~")
  if (pattern.startsWith("^whsec_")) return fc.integer({ min: 24, max: 64 }).map((bytes) => `whsec_${Buffer.alloc(bytes, bytes).toString("base64")}`)
  if (pattern.startsWith("^[Hh][Tt][Tt][Pp]")) return fc.constantFrom("https://a.example", "http://127.0.0.1:9/x", "HTTPS://B.example:8443/c/d")
  if (pattern.startsWith("^(?:\\*\\.)?")) return fc.constantFrom("a.example", "*.example.com", "localhost")
  if (pattern === "\\S") return fc.constantFrom("Someone", "/fail model_error on purpose", "/wait 2ms\nhello", "/call nope {}\n/then\n/call nope {}", "\ta\u0000b\ud800", "x".repeat(100))
  return undefined
}

/** A copy in which what a path of numbers leads to is something else, gone, or beside something unknown. */
const altered = (value: unknown, way: ReadonlyArray<number>, how: number, other: unknown): unknown => {
  const [step = 0, ...rest] = way
  const inside = rest.length > 0
  if (Array.isArray(value) && value.length > 0 && inside) return value.map((item, index) => index === step % value.length ? altered(item, rest, how, other) : item)
  if (isObject(value) && inside) {
    const entries = Object.entries(value)
    const at = step % Math.max(1, entries.length)
    if (how === 0) return { ...value, unknown: other }
    if (how === 1) return Object.fromEntries(entries.filter((_, index) => index !== at))
    return Object.fromEntries(entries.map(([name, item], index) => [name, index === at ? altered(item, rest, how, other) : item]))
  }
  return other
}

interface Sent {
  readonly credential: "all" | "read" | "none" | "unknown"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Whether the document already forbids it; undefined when it does not say. */
  readonly forbidden: boolean | undefined
}

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value) ?? "").toWellFormed()

const requests = (operation: Operation): fc.Arbitrary<Sent> => {
  const inPath = operation.parameters.filter((parameter) => parameter["in"] === "path")
  const inQuery = operation.parameters.filter((parameter) => parameter["in"] === "query")
  const schemaOf = (parameter: Schema) => schemaAt(parameter, "schema") ?? {}
  const ids = fc.tuple(...inPath.map((parameter) => fc.oneof({ weight: 12, arbitrary: fitting(schemaOf(parameter), schemas, textOf) }, { weight: 1, arbitrary: odd })))
  // Long polls are for other tests. A cursor is of this list, or of another thing of its kind.
  const usual = (parameter: Schema) =>
    parameter["name"] === "waitSeconds" ? fc.constant(0)
      : parameter["name"] === "cursor" ? fc.nat(5).map((n) => { const known = cursors.get(operation.path) ?? []; return known[n % known.length] ?? "none" })
      : fitting(schemaOf(parameter), schemas, textOf)
  const values = fc.tuple(...inQuery.map((parameter) => fc.option(
    fc.oneof({ weight: 4, arbitrary: usual(parameter) }, { weight: 1, arbitrary: odd }),
    { freq: 2, nil: undefined }
  )))
  const extra = fc.oneof({ weight: 15, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constantFrom("after_seq=1", "__proto__=1", "limit=1&limit=1", "%=%", "&&", "x".repeat(2000)) })
  const body = operation.body === undefined
    ? fc.oneof({ weight: 6, arbitrary: fc.constant({ value: undefined }) }, { weight: 1, arbitrary: odd.map((value) => ({ value })) })
    : fc.tuple(fitting(operation.body, schemas, textOf), fc.nat(2), fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), fc.nat(4), odd)
      .map(([fits, alter, way, how, other]) => ({ value: alter === 0 ? altered(fits, way, how, other) : fits }))
  const idempotency = fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: fc.constantFrom("a", "b", "c") }, { weight: 1, arbitrary: fc.constantFrom("", "x".repeat(256), " ") })
  const match = fc.constantFrom(undefined, undefined, "*", `"1"`, `"0"`, "W/\"1\"", "rubbish", ",,,")
  const cut = fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) })
  const credential = fc.oneof({ weight: 30, arbitrary: fc.constant("all" as const) }, { weight: 1, arbitrary: fc.constantFrom("read" as const, "none" as const, "unknown" as const) })
  return fc.record({ ids, values, extra, body, idempotency, match, cut, credential, together: fc.nat(3) }).map(({ body, credential, cut, extra, idempotency, ids: chosen, match, together, values }): Sent => {
    // An input and a thread that belong together, mostly.
    const thread = inPath.length === 2 && together > 0 ? threadOf.get(String(chosen[1])) : undefined
    const ids = thread === undefined ? chosen : [thread, ...chosen.slice(1)]
    const query = inQuery.flatMap((parameter, index) => values[index] === undefined ? [] : [`${parameter["name"]}=${encodeURIComponent(asText(values[index]))}`])
    const whole = JSON.stringify(body.value)
    const bytes = whole === undefined || cut === 0 ? whole : whole.slice(0, Math.max(0, whole.length - cut))
    const path = inPath.reduce((path, parameter, index) => path.replace(`{${parameter["name"]}}`, encodeURIComponent(asText(ids[index]))), operation.path)
    const badQuery = inQuery.some((parameter, index) => {
      const schema = schemaOf(parameter)
      const text = values[index]
      // Numbers are digits in a query, and nothing else.
      return text !== undefined && faults(schema, schema["type"] === "integer" && /^\d+$/.test(asText(text)) ? Number(asText(text)) : asText(text), schemas).length > 0
    })
    const badBody = operation.body !== undefined && whole !== undefined && faults(operation.body, body.value, schemas).length > 0
    return {
      credential,
      path: path + (query.length > 0 || extra !== "" ? `?${[...query, ...extra === "" ? [] : [extra]].join("&")}` : ""),
      headers: {
        ...bytes !== undefined && { "content-type": operation.method === "PATCH" ? "application/merge-patch+json" : "application/json" },
        ...idempotency !== undefined && operation.method === "POST" && { "idempotency-key": idempotency },
        ...match !== undefined && operation.parameters.some(({ name }) => name === "If-Match") && { "if-match": match }
      },
      body: bytes,
      forbidden: badQuery || badBody && cut === 0 ? true : undefined
    }
  })
}

const words = (response: Schema) => [...String(response["description"]).matchAll(/`([a-z_]+)`/g)].map((match) => match[1])

const tokenOf = (credential: Sent["credential"]) =>
  credential === "all" ? server.alpha.token : credential === "read" ? reader.token : `${server.alpha.token?.slice(0, -1)}${server.alpha.token?.endsWith("0") ? "1" : "0"}`

const send = async (method: string, { body, credential, headers, path }: Sent) => {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new Error("no answer in ten seconds")), 10_000)
  try {
    const response = await fetch(server.base + path, {
      method, headers: { ...credential !== "none" && { authorization: `Bearer ${tokenOf(credential)}` }, ...headers }, signal: stop.signal,
      ...body !== undefined && method !== "GET" && { body }
    })
    const type = response.headers.get("content-type") ?? ""
    if (type.startsWith("text/event-stream")) {
      // A stream does not end by itself.
      const first = await response.body?.getReader().read()
      return { status: response.status, headers: response.headers, type, text: new TextDecoder().decode(first?.value) }
    }
    return { status: response.status, headers: response.headers, type, text: await response.text() }
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}

const hold = async (operation: Operation, sent: Sent) => {
  const answer = await send(operation.method, sent)
  const seen = `${operation.method} ${sent.path.slice(0, 300)} ${sent.credential} ${JSON.stringify(sent.headers)} ${sent.body?.slice(0, 1500)}\n-> ${answer.status} ${answer.text.slice(0, 1500)}`
  assert.isBelow(answer.status, 500, seen)
  // The listener's own refusal, before there is a path to speak of.
  if (answer.status === 431 && sent.path.length > 10_000) return assert.deepStrictEqual(faults(schemas["ErrorResponse"] ?? {}, JSON.parse(answer.text), schemas, true), [], seen)
  // A segment that is no text at all, or none, is another path.
  if (answer.status === 405 || answer.status === 404 && /no such path/.test(answer.text)) return
  const response = schemaAt(operation.responses, String(answer.status))
  assert(response !== undefined, `this status is not documented: ${seen}`)
  for (const [name, header] of Object.entries(objectAt(response, "headers"))) {
    if (isObject(header) && header["required"] === true && !(answer.status === 429 && name === "Retry-After")) assert.isTrue(answer.headers.has(name), `no ${name}: ${seen}`)
  }
  const schema = schemaAt(objectAt(response, "content", "application/json"), "schema")
  if (schema !== undefined) {
    assert.match(answer.type, /^application\/json/, seen)
    const body: unknown = JSON.parse(answer.text)
    assert.deepStrictEqual(faults(schema, body, schemas, true), [], seen)
    if (answer.status >= 400) {
      assert(isObject(body))
      assert.include(words(response), body["error"], `this word is not documented: ${seen}`)
      assert.notMatch(String(body["message"]), /[\p{Cc}\p{Cs}]/u, seen)
    }
  } else if (answer.status === 204) assert.strictEqual(answer.text, "")
  else assert.match(answer.type, /^text\/event-stream/, seen)
  if (sent.forbidden === true) assert.isAtLeast(answer.status, 400, `the document forbids it: ${seen}`)
  if (sent.credential === "none" || sent.credential === "unknown") assert.strictEqual(answer.status, 401, seen)
  const count = done.get(operation) ?? { carried: 0, refused: 0 }
  done.set(operation, answer.status < 300 ? { ...count, carried: count.carried + 1 } : { ...count, refused: count.refused + 1 })
  if (answer.status < 300) learn(operation, sent, answer.text)
}

describe(`any request is answered as the document says (seed ${seed})`, () => {
  it.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))("%s", { timeout: 60_000 + runs * 200 }, async (_, operation) => {
    // What the ones before have ended is there again.
    await inhabit(server.alpha, own)
    await fc.assert(fc.asyncProperty(requests(operation), (sent) => hold(operation, sent)), { numRuns: runs, seed, interruptAfterTimeLimit: 55_000 + runs * 200 })
  })

  it.runIf(runs >= 100)("and every operation was carried out, and refused", () => {
    const missed = operations.filter((operation) => done.get(operation)?.carried === 0 || done.get(operation)?.refused === 0)
    assert.deepStrictEqual(missed.map(({ method, path }) => `${method} ${path}`), ["POST /v1/operations/{operationId}/deny", "POST /v1/operations/{operationId}/cancel"])
  })

  it("and the server still works as before", async () => {
    const thread = await makeThread(server.alpha, await makeAgent(server.alpha), { message: { content: [{ type: "text", text: "Still there?" }] } })
    const page = await server.alpha.get(`/v1/threads/${thread}/events?afterSeq=2&waitSeconds=10`)
    assert.deepStrictEqual(page.body.events.map(({ type }: { readonly type: string }) => type), ["turn_completed"])
  })
})
