/** A server that fails as servers do, and what a client makes of it. */
import { afterAll, assert, beforeEach, describe, it } from "@effect/vitest"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { vi } from "vitest"
import { answerOf, connect } from "../../src/client/client.ts"
import { TroupeError, TroupeUnreachable } from "../../src/client/errors.ts"

type Answer = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | "cut"

let answers: Array<Answer> = []
let asked: Array<{ readonly request: IncomingMessage; readonly at: number }> = []
const server = createServer((request, response) => {
  asked.push({ request, at: performance.now() })
  const answer = answers.shift() ?? { status: 200, body: { data: "none left" } }
  if (answer === "cut") {
    request.socket.destroy()
    return
  }
  response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
  response.end(JSON.stringify(answer.body ?? { error: "runtime_unavailable", message: "not now" }))
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => void server.close())
beforeEach(() => {
  answers = []
  asked = []
})

const troupe = (more: { readonly retries?: number; readonly timeoutMs?: number } = {}) =>
  connect({ url, key: "trp_k", ...more })
const nodes = () => answerOf(troupe().api.GET("/v1/nodes"))
const create = (headers?: Record<string, string>) =>
  answerOf(
    troupe().api.POST("/v1/threads", { body: { agentId: "agt_1" }, ...(headers === undefined ? {} : { headers }) })
  )
const keys = () => asked.map(({ request }) => request.headers["idempotency-key"])
const failure = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    return error
  }
  return assert.fail("it has succeeded")
}

describe("a request", () => {
  it("is tried again where the server is away, its connection breaks, or it says that the same is under way", async () => {
    answers = [
      { status: 503 },
      "cut",
      { status: 409, body: { error: "idempotency_in_progress", message: "wait" } },
      { status: 200, body: { nodes: [] } }
    ]
    assert.deepStrictEqual(await nodes(), { nodes: [] })
    assert.strictEqual(asked.length, 4)
  })

  it("comes no sooner than the server allows", async () => {
    answers = [
      { status: 429, headers: { "retry-after": "1" }, body: { error: "rate_limited", message: "slowly" } },
      { status: 200, body: { nodes: [] } }
    ]
    await nodes()
    assert.isAtLeast(asked[1]!.at - asked[0]!.at, 990)
  })

  it("of a POST has one key in all its tries, and another one the next time; a given one stays", async () => {
    answers = ["cut", { status: 201, body: {} }, { status: 201, body: {} }, { status: 201, body: {} }]
    await create()
    await create()
    await create({ "idempotency-key": "mine" })
    const [first, again, other, given] = keys()
    assert.isString(first)
    assert.strictEqual(again, first)
    assert.notStrictEqual(other, first)
    assert.strictEqual(given, "mine")
  })

  it("of a POST has its key where a page came over http, and the browser makes no UUIDs", async () => {
    const { crypto } = globalThis
    vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) })
    try {
      answers = ["cut", { status: 201, body: {} }, { status: 201, body: {} }]
      await create()
      await create()
    } finally {
      vi.unstubAllGlobals()
    }
    const [first, again, other] = keys()
    assert.match(String(first), /^[0-9a-f]{32}$/)
    assert.strictEqual(again, first)
    assert.notStrictEqual(other, first)
  })

  it("whose body nobody has typed has tries, a key and the version that it is held to as well", async () => {
    answers = ["cut", { status: 201, body: { made: true } }, { status: 200 }]
    const { send } = troupe()
    assert.deepStrictEqual(await send("POST", "/v1/roles", { body: { name: "any" } }), { made: true })
    await send("PATCH", "/v1/roles/role_1", { body: {}, ifMatch: '"7"' })
    const [first, second, patch] = asked
    assert.strictEqual(first?.request.headers["idempotency-key"], second?.request.headers["idempotency-key"])
    assert.strictEqual(second?.request.headers["content-type"], "application/json")
    assert.deepInclude(patch?.request.headers, { "if-match": '"7"', authorization: "Bearer trp_k" })
    answers = [{ status: 404, body: { error: "not_found", message: "gone" } }]
    assert.deepInclude(await failure(send("DELETE", "/v1/roles/role_1")), { status: 404, error: "not_found" })
  })

  it("that is refused is not tried again, and fails with what the server says", async () => {
    answers = [
      {
        status: 409,
        headers: { "x-request-id": "req-1" },
        body: { error: "turn_conflict", message: "another turn runs", code: "c" }
      }
    ]
    const error = await failure(nodes())
    assert.instanceOf(error, TroupeError)
    assert.deepInclude(error, {
      status: 409,
      error: "turn_conflict",
      code: "c",
      message: "another turn runs",
      requestId: "req-1"
    })
    assert.strictEqual(asked.length, 1)
  })

  it("ends with the last refusal when its tries are spent", async () => {
    answers = [{ status: 503 }, { status: 503 }]
    const error = await failure(answerOf(troupe({ retries: 1 }).api.GET("/v1/nodes")))
    assert.deepInclude(error, { status: 503, error: "runtime_unavailable" })
    assert.strictEqual(asked.length, 2)
  })

  it("is over in time, however long the server wants it to wait", async () => {
    answers = [{ status: 503, headers: { "retry-after": "60" } }]
    const error = await failure(answerOf(troupe({ timeoutMs: 2_000 }).api.GET("/v1/nodes")))
    assert.deepInclude(error, { status: 503 })
    assert.strictEqual(asked.length, 1)
  })

  it("to nobody, or to something else, says so", async () => {
    answers = [{ status: 404, body: "<html>" }]
    assert.instanceOf(await failure(nodes()), TroupeUnreachable)
    const nobody = connect({ url: "http://127.0.0.1:9", key: "k", retries: 0 })
    const error = await failure(answerOf(nobody.api.GET("/v1/nodes")))
    assert.instanceOf(error, TroupeUnreachable)
    assert.include(error.message, "127.0.0.1:9")
  })
})
