/** What the guard lets nobody connect to, whatever names lead there. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { asked, makeOutboundTools, names, says } from "./asking.ts"

const { ask, fails, outbound, serve } = makeOutboundTools()

describe("the guard", () => {
  const closedNet = { allowPrivateNetwork: false }

  it("connects to nothing private: not by address, not by name", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    for (const host of ["127.0.0.1", "2130706433", "0x7f000001", "0177.1", "[::ffff:7f00:1]", "127.1", "127.0.0.1."]) {
      await fails("forbidden_address", `https://${host}:${canary.port}/`, {}, closedNet)
    }
    for (const name of ["localhost", "LOCALHOST"])
      await fails("forbidden_address", `https://${name}:${canary.port}/`, {}, closedNet)
    for (const address of [
      "127.0.0.1",
      "::1",
      "::ffff:127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "fe80::1",
      "fd00::1",
      "100.64.0.1",
      "0.0.0.0",
      "::",
      "64:ff9b::7f00:1",
      "::127.0.0.1"
    ]) {
      await fails(
        "forbidden_address",
        `https://name.example:${canary.port}/`,
        {},
        { ...closedNet, ...names([address]) }
      )
    }
    assert.strictEqual(canary.connections(), 0)
  })

  it("refuses a name as soon as one of its addresses is private, whatever the order", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    for (const addresses of [
      ["8.8.8.8", "127.0.0.1"],
      ["127.0.0.1", "8.8.8.8"],
      ["2606:4700::1111", "8.8.8.8", "::1"]
    ]) {
      await fails(
        "forbidden_address",
        `https://name.example:${canary.port}/`,
        {},
        { ...closedNet, ...names(addresses) }
      )
    }
    assert.strictEqual(canary.connections(), 0)
  })

  it("looks a name up once a connection: what it answers the next time is not connected to", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    // Public at first, then this machine: a second look-up between check and connection would reach the canary.
    const rebinding = names(["203.0.113.1"], ["127.0.0.1"])
    await fails("forbidden_address", `https://name.example:${canary.port}/`, {}, { ...closedNet, ...rebinding })
    assert.strictEqual(rebinding.asked(), 1)
    const later = names(["192.0.2.1"], ["127.0.0.1"])
    const client = await outbound({ ...closedNet, ...later })
    for (let i = 0; i < 3; i++) {
      const result = await Effect.runPromise(
        Effect.result(client.request(asked(`https://name.example:${canary.port}/`)))
      )
      assert.isTrue(Result.isFailure(result) && result.failure.reason === "forbidden_address")
    }
    assert.deepStrictEqual([later.asked(), canary.connections()], [3, 0])
  })

  it("connects to the address that was checked, not to what the name leads to by then", async () => {
    const server = await serve((socket) => says(socket, "checked"))
    const other = await serve((socket) => says(socket, "other"), "127.0.0.2")
    const changing = names(["127.0.0.1"], ["127.0.0.2"])
    const client = await outbound(changing)
    const answer = await Effect.runPromise(client.request(asked(`http://name.example:${server.port}/`)))
    assert.deepStrictEqual([answer.body, changing.asked(), other.connections()], ["checked", 1, 0])
    assert.match(server.heard[0] ?? "", /\r\nhost: name\.example:/)
  })

  it("is not led astray by a Host header", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    await fails(
      "forbidden_address",
      `https://127.0.0.1:${canary.port}/`,
      { headers: { host: "public.example" } },
      closedNet
    )
    await fails(
      "forbidden_address",
      `https://name.example:${canary.port}/`,
      { headers: { host: "8.8.8.8" } },
      { ...closedNet, ...names(["127.0.0.1"]) }
    )
    assert.strictEqual(canary.connections(), 0)
  })

  it("asks only https, unless private networks are allowed", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    await fails("forbidden_url", canary.url, {}, closedNet)
    for (const url of ["ftp://a.example", "file:///etc/passwd", "data:,x", "nonsense", ""])
      await fails("forbidden_url", url)
    assert.strictEqual(canary.connections(), 0)
  })

  it("asks allowed hosts only, before any look-up", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const lookups = names(["127.0.0.1"])
    await fails(
      "forbidden_url",
      `http://other.example:${server.port}/`,
      { reach: { hosts: ["name.example"] } },
      lookups
    )
    await fails("forbidden_url", `http://name.example:${server.port}/`, { reach: { hosts: [] } }, lookups)
    assert.deepStrictEqual([lookups.asked(), server.connections()], [0, 0])
    assert.isTrue(
      Result.isSuccess(
        await ask(`http://name.example:${server.port}/`, { reach: { hosts: ["name.example"] } }, lookups)
      )
    )
  })

  it("fails as no connection for a name that leads nowhere", async () => {
    await fails("connect", "http://name.example/", {}, names([]))
    await fails(
      "connect",
      "http://name.example/",
      {},
      { resolve: (_, done) => done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), []) }
    )
  })

  it("says of a URL why it would be refused", async () => {
    const [open, closed] = [await outbound(), await outbound(closedNet)]
    assert.deepStrictEqual(
      ["https://a.example", "http://a.example", "https://10.0.0.1", "https://169.254.169.254"].map((url) => [
        closed.refuses(url)?.reason,
        open.refuses(url)?.reason
      ]),
      [
        [undefined, undefined],
        ["forbidden_url", undefined],
        ["forbidden_address", undefined],
        ["forbidden_address", "forbidden_address"]
      ]
    )
  })
})
