/** What every answer has, whatever becomes of the request. */
import { assert, describe, it } from "@effect/vitest"
import { raw, send } from "./client.ts"
import { serving, World } from "./tiny.ts"
import { fresh } from "./toolFixture.ts"

const world = new World()
const { key } = world.issue(["read", "run"])
const base = await serving(world)
const auth = { authorization: `Bearer ${key}` }
const get = (path: string, headers: Record<string, string> = auth) => send(base + path, { headers })

describe("the request id", () => {
  it("is the client's when it is sane, and fresh otherwise", async () => {
    assert.strictEqual(
      (await get("/v1/refuse", { ...auth, "x-request-id": "abc-1.2:3" })).headers.get("x-request-id"),
      "abc-1.2:3"
    )
    for (const id of ["a b", "x".repeat(129), "<script>"]) {
      assert.match(
        (await get("/v1/refuse", { ...auth, "x-request-id": id })).headers.get("x-request-id") ?? "",
        /^req_[0-9a-z]{26}$/
      )
    }
  })

  it("is on every answer, of routes and of what is none", async () => {
    for (const path of ["/v1/refuse", "/v1/fail", "/v1/nothing", "/healthz", "/v1/openapi.json", "/"]) {
      assert.match((await get(path)).headers.get("x-request-id") ?? "", /^req_/, path)
    }
    assert.match((await get("/v1/refuse", {})).headers.get("x-request-id") ?? "", /^req_/)
  })
})

describe("the root", () => {
  const at = (accept?: string) =>
    send(`${base}/`, { redirect: "manual", headers: accept === undefined ? {} : { accept } })

  it.each([
    "text/html",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "application/json;q=0.5, TEXT/HTML ;q=0.9"
  ])("leads a browser to the reference, without a key (%s)", async (accept) => {
    const answer = await at(accept)
    assert.deepStrictEqual(
      [answer.status, answer.headers.get("location"), answer.headers.get("vary")],
      [302, "docs", "accept"]
    )
  })

  it.each([
    undefined,
    "*/*",
    "application/json",
    "application/json, text/plain, */*",
    "text/html;q=0",
    "text/html;level=1;q=0.0, */*",
    "text/htmlx"
  ])("tells a program where things are, without a key (%s)", async (accept) => {
    const answer = await at(accept)
    assert.deepStrictEqual(
      [answer.status, answer.headers.get("content-type"), answer.headers.get("vary")],
      [200, "application/json", "accept"]
    )
    const { name, ...links } = Object(answer.body)
    assert.strictEqual(name, "troupe")
    for (const [what, path] of Object.entries(links)) assert.strictEqual((await send(base + path)).status, 200, what)
  })
})

describe("an error", () => {
  it("that nobody foresaw is a 500 that says the request's id and no detail", async () => {
    const id = fresh("look-me-up")
    const answer = await get("/v1/fail", { ...auth, "x-request-id": id })
    assert.strictEqual(answer.status, 500)
    assert.deepStrictEqual(answer.body, {
      error: "internal",
      message: `something went wrong on our side; the request's id is ${id}`
    })
    const logged = world.logs.filter((line) => line.includes(id))
    assert.lengthOf(logged, 1)
    assert.include(logged[0], "hunter2")
  })

  it("of the database is a 503 with Retry-After, and equals retryAfterSeconds", async () => {
    const answer = await get("/v1/outage")
    assert.strictEqual(answer.status, 503)
    assert.deepStrictEqual(answer.body, {
      error: "runtime_unavailable",
      message: "the database does not answer; try again",
      retryAfterSeconds: 1
    })
    assert.strictEqual(answer.headers.get("retry-after"), "1")
  })

  it("that a handler refuses with has its status, its words and its Retry-After", async () => {
    const answer = await get("/v1/refuse")
    assert.strictEqual(answer.status, 429)
    assert.deepStrictEqual(answer.body, { error: "queue_full", message: "full", retryAfterSeconds: 7 })
    assert.strictEqual(answer.headers.get("retry-after"), "7")
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
  })
})

describe("a path", () => {
  it("that is unknown is 404", async () => {
    for (const path of [
      "/nothing",
      "/v1",
      "/v1/nothing",
      "/v2/threads",
      "/v1/threads",
      "/v1//refuse",
      "/v1/refuse/",
      "/V1/refuse",
      "/v1/refuse%20"
    ]) {
      const answer = await get(path)
      assert.deepStrictEqual([answer.status, answer.body], [404, { error: "not_found", message: "no such path" }], path)
    }
  })

  it("that is known, with another method, is 405 with Allow", async () => {
    const answer = await send(`${base}/v1/threads/thr_01h455vb4pex5vsknk084sn02q/notes`, {
      method: "DELETE",
      headers: auth
    })
    assert.strictEqual(answer.status, 405)
    assert.deepStrictEqual(answer.body, { error: "method_not_allowed", message: "this path takes POST, GET, HEAD" })
    assert.strictEqual(answer.headers.get("allow"), "POST, GET, HEAD")
    for (const path of ["/", "/healthz", "/docs", "/v1/openapi.json"]) {
      assert.strictEqual((await send(base + path, { method: "POST" })).status, 405, path)
    }
    // No other origin may use a browser's credentials here: a preflight gets no CORS header.
    const preflight = await send(`${base}/v1/refuse`, {
      method: "OPTIONS",
      headers: { origin: "https://example.org" }
    })
    assert.strictEqual(preflight.status, 405)
    assert.isNull(preflight.headers.get("access-control-allow-origin"))
  })

  it("answers HEAD like GET, without a body", async () => {
    const answer = await send(`${base}/healthz`, { method: "HEAD" })
    assert.deepStrictEqual([answer.status, answer.text], [200, ""])
  })
})

it("every answer forbids sniffing and storing", async () => {
  for (const path of ["/v1/refuse", "/healthz", "/v1/nothing"]) {
    const { headers } = await get(path)
    assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
    assert.strictEqual(headers.get("cache-control"), "no-store")
  }
})

describe("what is not HTTP", () => {
  it("gets a 400 with ErrorResponse, and the server lives on", async () => {
    assert.match(await raw(base, "NONSENSE\r\n\r\n"), /^HTTP\/1\.1 400 [\s\S]*"error":"invalid_request"/)
    assert.match(await raw(base, `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
    assert.strictEqual((await get("/healthz")).status, 200)
  })
})

describe("the probes", () => {
  it("need no credential, and say why a node is not ready", async () => {
    world.ready = { status: "ready", bus: "in-process" }
    assert.deepStrictEqual((await get("/healthz", {})).body, { status: "ok" })
    assert.deepStrictEqual((await get("/readyz", {})).body, { status: "ready", bus: "in-process" })
    world.ready = { status: "degraded", bus: "disconnected" }
    assert.deepStrictEqual(
      [(await get("/readyz", {})).status, (await get("/readyz", {})).body],
      [200, { status: "degraded", bus: "disconnected" }]
    )
    world.ready = { status: "unready", reason: "no lease yet" }
    const unready = await get("/readyz", {})
    assert.deepStrictEqual(
      [unready.status, unready.body],
      [503, { error: "runtime_unavailable", message: "no lease yet", retryAfterSeconds: 1 }]
    )
    world.ready = { status: "draining", reason: "shutting down" }
    assert.deepInclude((await get("/readyz", {})).body, { error: "node_draining" })
    const metrics = await get("/metrics", {})
    assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
  })
})

describe("the reference", () => {
  it("is found with a slash too many", async () => {
    const answer = await send(`${base}/docs/`, { redirect: "manual" })
    assert.deepStrictEqual([answer.status, answer.headers.get("location")], [302, "../docs"])
  })

  it("is one page whose policy lets it reach this server only", async () => {
    const page = await get("/docs", {})
    assert.strictEqual(page.status, 200)
    const policy = page.headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'none'")
    assert.include(policy, "connect-src 'self'")
    assert.notMatch(policy, /https?:/)
    // Nothing in the page's own markup loads from elsewhere.
    assert.notMatch(page.text, /<(?:script|link|img|iframe)[^>]+(?:src|href)\s*=\s*["']?(?:https?:)?\/\//i)
  })
})
