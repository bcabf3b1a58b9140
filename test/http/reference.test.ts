/** The reference's pages: who makes them, when, and who waits. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { HttpRouter } from "effect/http"
import { setTimeout as pause } from "node:timers/promises"
import { RateLimit } from "../../http/RateLimit.ts"
import { layer, madeInThread } from "../../http/reference.ts"
import type { ReferencePages } from "../../http/referencePages.ts"
import { send } from "./client.ts"
import { startServing, World } from "./tiny.ts"

const paths = ["/docs", "/v1/openapi.json"]

/** Asks the reference alone, without a listener. */
const served = <E>(make: Effect.Effect<ReferencePages, E>) => {
  const { dispose, handler } = HttpRouter.toWebHandler(layer(make), {
    disableLogger: true,
    // As the listener has it: `/docs` and `/docs/` are two.
    routerConfig: { ignoreTrailingSlash: false }
  })
  return {
    get: (path: string, signal: AbortSignal | null = null) =>
      handler(new Request(`http://127.0.0.1${path}`, { signal })),
    [Symbol.asyncDispose]: () => dispose()
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const some = { page: bytes("<p>"), document: bytes("{}") }

/** The text of a failure. */
const failing = (program: URL) =>
  Effect.runPromise(Effect.map(Effect.flip(madeInThread(program)), ({ cause }) => `${cause}`))

describe("the pages of the reference", () => {
  it("are made at the first demand, and the event loop turns meanwhile", { timeout: 60_000 }, async () => {
    await using node = served(madeInThread())
    let turns = 0
    const turning = setInterval(() => turns++, 5)
    const before = process.threadCpuUsage()
    const [page, openapi] = await Promise.all(paths.map((path) => node.get(path)))
    const { system, user } = process.threadCpuUsage(before)
    clearInterval(turning)

    assert.deepStrictEqual([page?.status, openapi?.status], [200, 200])
    // It takes half a second of a processor: here it took next to nothing, whatever else the machine does.
    assert.isBelow((system + user) / 1_000, 250)
    assert.isAbove(turns, 20)

    const text = await openapi?.text()
    const { document } = await import("./document.ts")
    assert.isTrue(text === JSON.stringify(document), "another document than that of this code")
    assert.include(await page?.text(), `content: {"openapi":"3.1.0"`)
  })

  it("are the same bytes for everybody", async () => {
    await using node = served(Effect.succeed(some))
    for (const path of [...paths, ...paths]) assert.strictEqual((await node.get(path)).status, 200)
    assert.strictEqual(await (await node.get("/docs")).text(), "<p>")
    assert.strictEqual(await (await node.get("/v1/openapi.json")).text(), "{}")
  })

  it("are made once for all who ask meanwhile, also where one of them leaves", async () => {
    const pages = Deferred.makeUnsafe<ReferencePages>()
    let makings = 0
    await using node = served(
      Effect.suspend(() => {
        makings++
        return Deferred.await(pages)
      })
    )
    const leaving = new AbortController()
    const left = node.get("/docs", leaving.signal)
    const waiting = paths.map((path) => node.get(path))
    while (makings === 0) await pause(1)
    leaving.abort()
    await left.catch(() => {})
    Effect.runSync(Deferred.succeed(pages, some))
    assert.deepStrictEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [200, 200]
    )
    assert.strictEqual(makings, 1)
  })

  it("are made again after a making that failed, which is told and answered as any failure of ours", async () => {
    const world = new World()
    let makings = 0
    const pages = Effect.suspend(() =>
      ++makings === 1 ? Effect.fail(new Error("no thread is left")) : Effect.succeed(some)
    )
    await using node = await startServing(world, RateLimit.off, {}, pages)
    const failed = await send(`${node.base}/docs`)
    assert.strictEqual(failed.status, 500)
    assert.include(failed.text, `"error":"internal"`)
    assert.isTrue(world.logs.some((line) => line.includes("no thread is left")))
    for (const path of paths) assert.strictEqual((await send(`${node.base}${path}`)).status, 200)
    assert.strictEqual(makings, 2)
  })

  it("fail with what their thread threw, or with its end", async () => {
    assert.include(await failing(new URL(`data:text/javascript,throw new Error("broken")`)), "broken")
    assert.include(await failing(new URL("data:text/javascript,process.exit(3)")), "ended with code 3")
  })
})
