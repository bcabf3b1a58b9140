/** Requests of an outbound client to servers of the test's own, and what these answer. */
import { afterEach, assert } from "@effect/vitest"
import { Effect, ManagedRuntime, Result } from "effect"
import type { LookupAddress } from "node:dns"
import type { Socket } from "node:net"
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib"
import type { Resolve } from "../../src/outbound/connector.ts"
import { Outbound, type OutboundOptions, type OutboundRequest } from "../../src/outbound/Outbound.ts"
import type { OutboundReason } from "../../src/outbound/OutboundFailure.ts"
import { type RawServer, rawServer } from "./servers.ts"

export const asked = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  workspace: "wsp_a",
  method: "GET",
  url,
  timeoutMs: 10_000,
  maxBytes: 1_000,
  ...more
})

export const brotliSync = (data: string | Uint8Array) =>
  brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
export const codings = [
  ["gzip", gzipSync],
  ["br", brotliSync],
  ["deflate", deflateSync]
] as const

export const head = (headers: Readonly<Record<string, string | number>>, status = "200 OK") =>
  `HTTP/1.1 ${status}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`
export const says = (
  socket: Socket,
  content: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  status?: string
) => {
  socket.write(head({ "content-length": Buffer.byteLength(content), ...headers }, status))
  socket.write(content)
}

/** Names to addresses, one list per look-up; the last one stays. */
export const names = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  let asked = 0
  const resolve: Resolve = (_, done) => {
    const found = answers[Math.min(asked++, answers.length - 1)] ?? []
    setImmediate(() =>
      done(
        null,
        found.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
      )
    )
  }
  return { resolve, asked: () => asked }
}

/** Servers and clients that end with the test that has started them. */
export const makeOutboundTools = () => {
  const ends: Array<() => Promise<unknown>> = []

  const serve = async (answer: Parameters<typeof rawServer>[0], host?: string): Promise<RawServer> => {
    const server = await rawServer(answer, host)
    ends.push(server.stop)
    return server
  }

  /** A client of its own: open where the test's server is on this machine. */
  const outbound = async (options: Partial<OutboundOptions> = {}) => {
    const runtime = ManagedRuntime.make(Outbound.layer({ allowPrivateNetwork: true, ...options }))
    ends.push(() => runtime.dispose())
    return runtime.runPromise(Outbound)
  }

  const ask = async (url: string, more: Partial<OutboundRequest> = {}, options: Partial<OutboundOptions> = {}) => {
    const client = await outbound(options)
    return Effect.runPromise(Effect.result(client.request(asked(url, more))))
  }

  const fails = async (
    reason: OutboundReason,
    url: string,
    more: Partial<OutboundRequest> = {},
    options: Partial<OutboundOptions> = {}
  ) => {
    const result = await ask(url, more, options)
    if (Result.isSuccess(result)) return assert.fail(`answered ${result.success.status}`)
    assert.strictEqual(result.failure.reason, reason, result.failure.message)
    return result.failure
  }

  const body = async (url: string, more: Partial<OutboundRequest> = {}) => {
    const result = await ask(url, more)
    return Result.isSuccess(result) ? result.success : assert.fail(result.failure.message)
  }
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  return { ask, body, ends, fails, outbound, serve }
}
