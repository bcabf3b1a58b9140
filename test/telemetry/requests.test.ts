import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { once } from "node:events"
import { type RequestEntry, type RequestOptions, routeOf, watchRequests } from "../../src/telemetry/requests.ts"

const serving = async (
  work: (base: string, log: Array<RequestEntry>) => Promise<void>,
  options: Partial<RequestOptions> = {}
) => {
  const log: Array<RequestEntry> = []
  const server = createServer((request, response) => {
    response.setHeader("x-request-id", request.headers["x-request-id"] ?? "none")
    response.statusCode = request.url?.startsWith("/v1/broken")
      ? 500
      : request.url?.startsWith("/v1/nothing")
        ? 404
        : 200
    response.end("ok")
  })
  watchRequests(server, { log: (entry) => void log.push(entry), ...options })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no address")
  try {
    await work(`http://127.0.0.1:${address.port}`, log)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** Requests to that route that the process has counted, in whichever test. */
const counted = async () => {
  const text = await Effect.runPromise(PrometheusMetrics.format())
  return [...text.matchAll(/^troupe_http_requests_total\{[^}]*route="\/v1\/threads"[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0
  )
}

describe("the request log", () => {
  it("names routes, not ids or queries", () => {
    assert.strictEqual(
      routeOf("/v1/threads/thr_01m7y13t5ke0095n45e03jf000/events?afterSeq=1"),
      "/v1/threads/:id/events"
    )
    assert.strictEqual(routeOf("/v1/agents/agt_0000000000000000000000dem0"), "/v1/agents/:id")
    assert.strictEqual(routeOf("/v1/%2e%2e/A B/<script>"), "/v1/*/*/*")
  })

  it("counts every request, and logs errors even past the limit of lines", () =>
    serving(
      async (base, log) => {
        const before = await counted()
        for (const path of ["/v1/threads", "/v1/threads", "/v1/threads", "/v1/broken", "/v1/nothing/x"])
          await (await fetch(base + path)).text()
        await until(() => log.some((entry) => entry.status === 500))
        const told = log.slice(0, log.findIndex((entry) => entry.status === 500) + 1)
        assert.deepStrictEqual(told.at(-1)?.route, "/v1/broken")
        // A second may end in between: then there is a line more, and fewer were skipped.
        assert.isBelow(told.length, 4)
        assert.strictEqual(
          told.reduce((sum, { skipped = 0 }) => sum + skipped, told.length),
          4
        )
        assert.strictEqual((await counted()) - before, 3)
        const text = await Effect.runPromise(PrometheusMetrics.format())
        assert.match(text, /troupe_http_request_duration_seconds_bucket/)
        assert.notMatch(text, /nothing/)
      },
      { perSecond: 1 }
    ))

  it("has as many lines for slow answers in a second as for others, and no more", () =>
    serving(
      async (base, log) => {
        for (let i = 0; i < 30; i++) await (await fetch(`${base}/v1/threads`)).text()
        await (await fetch(`${base}/v1/broken`)).text()
        await until(() => log.some((entry) => entry.status === 500))
        // The test may begin late in a second.
        assert.isAtMost(log.length, 5)
        assert.strictEqual(
          log.reduce((sum, { skipped = 0 }) => sum + skipped, log.length),
          31
        )
      },
      { perSecond: 2, slow: 0 }
    ))

  it("knows the id of every request: the client's own, or one that it gives", () =>
    serving(async (base, log) => {
      const answered = async (headers: Record<string, string>) =>
        (await fetch(`${base}/v1/agents`, { headers })).headers.get("x-request-id") ?? undefined
      assert.strictEqual(await answered({ "x-request-id": "mine-1" }), "mine-1")
      const given = [await answered({}), await answered({ "x-request-id": "<b>" })]
      for (const id of given) assert.match(id ?? "", /^req_[0-9a-z]{26}$/)
      await until(() => log.length === 3)
      assert.deepStrictEqual(
        log.map((entry) => entry.requestId),
        ["mine-1", ...given]
      )
    }))
})
