/** The client as a `fetch`: what takes one gets the guard too. */
import { assert, describe, it } from "@effect/vitest"
import { OutboundFailure } from "../../src/outbound/OutboundFailure.ts"
import { drip, endlessly } from "./servers.ts"
import { head, makeOutboundTools, says } from "./asking.ts"

const { outbound, serve } = makeOutboundTools()

describe("fetch", () => {
  const rejected = async (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => assert.fail("resolved"),
      (error) => error
    )
  const reasonOf = async (promise: Promise<unknown>) => {
    const error = await rejected(promise)
    return error instanceof OutboundFailure ? error.reason : error
  }

  it("takes what fetch takes, and answers with a Response", async () => {
    const server = await serve((socket) => says(socket, `{"a":1}`, { "content-type": "application/json" }))
    const fetch = (await outbound()).fetch("wsp_a")
    const response = await fetch(
      new Request(`${server.url}/x`, { method: "POST", body: new URLSearchParams({ q: "1" }) })
    )
    assert.instanceOf(response, Response)
    assert.deepStrictEqual(
      [response.ok, response.headers.get("content-type"), await response.json()],
      [true, "application/json", { a: 1 }]
    )
    assert.match(
      server.heard[0] ?? "",
      /content-type: application\/x-www-form-urlencoded.*\r\ncontent-length: 3\r\n\r\nq=1$/s
    )
    assert.strictEqual(await (await fetch(new URL(server.url))).text(), `{"a":1}`)
  })

  it("streams a body as it comes, also through gzip", async () => {
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
    const server = await serve((socket) => {
      socket.write(head({ "content-type": "text/event-stream", "transfer-encoding": "chunked" }))
      socket.write("7\r\ndata: 1\r\n")
      resumed.then(() => socket.write("7\r\ndata: 2\r\n0\r\n\r\n"))
    })
    const response = await (await outbound()).fetch("wsp_a")(server.url)
    const reader = response.body?.getReader()
    assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "data: 1")
    resume()
    assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "data: 2")
    assert.isTrue((await reader?.read())?.done)
  })

  it("fails with the guard's failures: forbidden, redirected, too large, late", async () => {
    const server = await serve((socket, text) => {
      if (text.includes("/redirect")) says(socket, "", { location: "/" }, "302 Found")
      else if (text.includes("/large")) says(socket, "x".repeat(2_000))
      else if (text.includes("/endless")) {
        socket.write(head({}))
        endlessly(socket, "x".repeat(500))
      } else if (text.includes("/drip")) {
        socket.write(head({}))
        drip(socket, "x", 20)
      }
    })
    const fetch = (await outbound()).fetch("wsp_a", { headerTimeoutMs: 200, bodyTimeoutMs: 300, maxBytes: 1_000 })
    assert.deepStrictEqual(
      [
        await reasonOf(fetch("http://169.254.169.254/")),
        await reasonOf(fetch(`${server.url}/redirect`, { redirect: "follow" })),
        await reasonOf(fetch(`${server.url}/large`)),
        await reasonOf(fetch(`${server.url}/endless`).then((response) => response.text())),
        await reasonOf(fetch(`${server.url}/silent`)),
        await reasonOf(fetch(`${server.url}/drip`).then((response) => response.text()))
      ],
      ["forbidden_address", "redirect", "too_large", "too_large", "timeout", "timeout"]
    )
    await server.allClosed()
  })

  it("ends with the caller's signal, before the headers and within the body", async () => {
    const server = await serve((socket, text) => {
      if (text.includes("/body")) socket.write(head({}) + "x")
    })
    const fetch = (await outbound()).fetch("wsp_a")
    const reason = new Error("enough")
    assert.strictEqual(await rejected(fetch(server.url, { signal: AbortSignal.abort(reason) })), reason)
    assert.strictEqual(server.connections(), 0)
    const early = new AbortController()
    const waiting = rejected(fetch(server.url, { signal: early.signal }))
    while (server.connections() === 0) await new Promise(setImmediate)
    early.abort(reason)
    assert.strictEqual(await waiting, reason)
    const late = new AbortController()
    const response = await fetch(`${server.url}/body`, { signal: late.signal })
    const reading = rejected(response.text())
    late.abort(reason)
    assert.strictEqual(await reading, reason)
    await server.allClosed()
  })

  it("closes the connection of a body that is not wanted, or never read", async () => {
    const server = await serve((socket) => {
      socket.write(head({}) + "x")
    })
    const client = await outbound()
    await (await client.fetch("wsp_a")(server.url)).body?.cancel()
    await server.allClosed()
    // Nobody reads this one: its time runs out.
    await client.fetch("wsp_a", { bodyTimeoutMs: 200 })(server.url)
    await server.allClosed()
    assert.strictEqual(server.connections(), 2)
  })

  it("gives a null body where there is none, and the connection back", async () => {
    const server = await serve((socket) => socket.write(head({}, "204 No Content")))
    const fetch = (await outbound()).fetch("wsp_a")
    for (let i = 0; i < 10; i++) {
      const response = await fetch(server.url)
      assert.deepStrictEqual([response.status, response.body], [204, null])
    }
    assert.isAtMost(server.connections(), 2)
  })

  it("asks allowed hosts only", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const client = await outbound()
    assert.strictEqual(
      await reasonOf(client.fetch("wsp_a", { reach: { hosts: ["a.example"] } })(server.url)),
      "forbidden_url"
    )
    assert.strictEqual((await client.fetch("wsp_a", { reach: { hosts: ["127.0.0.1"] } })(server.url)).status, 200)
  })

  it("refuses URLs with credentials as fetch does", async () => {
    const error = await rejected((await outbound()).fetch("wsp_a")("https://u:p@a.example"))
    assert.instanceOf(error, Error)
  })
})
