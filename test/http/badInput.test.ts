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
const operations = Object.entries(objectAt(document, "paths")).flatMap(([path, methods]) =>
  Object.entries(isObject(methods) ? methods : {}).map(([method, operation]): Operation => ({
    method: method.toUpperCase(), path,
    parameters: listAt(objectAt(operation), "parameters").filter(isObject),
    body: schemaAt(objectAt(operation, "requestBody", "content", "application/json"), "schema"),
    responses: objectAt(operation, "responses")
  })))

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
const learned = /"((?:agt_|prof_|thr_|inp_|trn_|op_)[0-7][0-9a-hjkmnp-tv-z]{25})"/g

let server: TestServer
const inhabit = async (client: TestServer["alpha"], pool: Map<string, Array<string>>) => {
  const resting = await makeAgent(client)
  for (const agent of [resting, await makeAgent(client, ["troupe/scripted-paid"], { budget: { limit: 1, window: "24h" } })]) {
    const thread = await makeThread(client, agent)
    const running = await makeThread(client, agent, { message: { content: [{ type: "text", text: "/wait 600s" }] } })
    for (const words of ["one", "two", "three"]) {
      const { id, turnId } = await submit(client, running, words)
      remember(pool, id, turnId)
    }
    remember(pool, agent, thread, running)
  }
  for (const profile of (await client.get("/v1/profiles")).body.profiles) remember(pool, profile.id)
  remember(pool, (await client.post("/v1/identities/disable", { identity: "nobody" })).body.operation.id)
  remember(pool, (await client.post("/v1/auth/keys", { name: "lost", scopes: ["read"] })).body.key.id)
}
beforeAll(async () => {
  server = await startServer()
  await inhabit(server.alpha, own)
  await inhabit(server.beta, foreign)
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
  // Long polls are for other tests.
  const values = fc.tuple(...inQuery.map((parameter) => fc.option(
    fc.oneof({ weight: 4, arbitrary: parameter["name"] === "waitSeconds" ? fc.constant(0) : fitting(schemaOf(parameter), schemas, textOf) }, { weight: 1, arbitrary: odd }),
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
  return fc.record({ ids, values, extra, body, idempotency, match, cut }).map(({ body, cut, extra, idempotency, ids, match, values }): Sent => {
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

const send = async (method: string, { body, headers, path }: Sent) => {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new Error("no answer in ten seconds")), 10_000)
  try {
    const response = await fetch(server.base + path, {
      method, headers: { authorization: `Bearer ${server.alpha.token}`, ...headers }, signal: stop.signal,
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
  const seen = `${operation.method} ${sent.path.slice(0, 300)} ${JSON.stringify(sent.headers)} ${sent.body?.slice(0, 1500)}\n-> ${answer.status} ${answer.text.slice(0, 1500)}`
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
  if (answer.status < 300) for (const [, id] of answer.text.slice(0, 20_000).matchAll(learned)) remember(own, id!)
}

describe(`any request is answered as the document says (seed ${seed})`, () => {
  it.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))("%s", { timeout: 60_000 + runs * 200 }, async (_, operation) => {
    await fc.assert(fc.asyncProperty(requests(operation), (sent) => hold(operation, sent)), { numRuns: runs, seed, interruptAfterTimeLimit: 55_000 + runs * 200 })
  })

  it("and the server still works as before", async () => {
    const thread = await makeThread(server.alpha, await makeAgent(server.alpha), { message: { content: [{ type: "text", text: "Still there?" }] } })
    const page = await server.alpha.get(`/v1/threads/${thread}/events?afterSeq=2&waitSeconds=10`)
    assert.deepStrictEqual(page.body.events.map(({ type }: { readonly type: string }) => type), ["turn_completed"])
  })
})
