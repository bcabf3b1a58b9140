/** Answers of servers that lie, stall, flood and break off, and how such a server is registered. */
import { gzipSync } from "node:zlib"
import type { TestServer } from "../setup/server.ts"
import { endless, type Lie, sendResult, stream } from "./liar.ts"
import { fresh } from "../http/toolFixture.ts"

/** Registers the server under a namespace of its own. */
export const register = ({ alpha }: TestServer, url: string) =>
  alpha.post("/v1/toolsets", { kind: "mcp", namespace: fresh("liar"), url, trusted: true })

export const status =
  (code: number, headers: Record<string, string> = {}): Lie =>
  (response) =>
    response.writeHead(code, headers).end("x")
export const hang: Lie = () => {}
export const destroy: Lie = (response) => response.destroy()
export const breakOff: Lie = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"jsonrpc":')
  setTimeout(() => response.destroy(), 20)
}
export const html: Lie = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")
export const drip: Lie = (response) => endless(response.writeHead(200, { "content-type": "application/json" }), " ", 50)
export const flood: Lie = (response) =>
  endless(response.writeHead(200, { "content-type": "application/json" }), "[".repeat(65_536), 0)
export const bomb: Lie = (response) =>
  response
    .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
    .end(gzipSync(" ".repeat(64 * 1024 * 1024)))
export const nothing: Lie = (response) => response.writeHead(200, { "content-type": "application/json" }).end()
export const accepted: Lie = (response) => response.writeHead(202).end()
export const otherId: Lie = (response) => sendResult(response, "other", {})
export const emptyStream: Lie = (response) => {
  stream(response)
  response.end()
}
export const silentStream: Lie = (response) => {
  stream(response)
}
export const endlessEvent: Lie = (response) => {
  stream(response)
  return endless(response, `data: ${"x".repeat(65_536)}`, 0)
}
