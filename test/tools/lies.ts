/** What servers that lie, stall, flood and break off answer, and how such a server is registered. */
import { gzipSync } from "node:zlib"
import { fresh } from "../http/toolFixture.ts"
import { sharedServer } from "../setup/server.ts"
import { endless, type Lie, sendResult, stream } from "./liar.ts"

/** An answer of that status. */
export const status =
  (code: number, headers: Record<string, string> = {}): Lie =>
  (response) =>
    response.writeHead(code, headers).end("x")

export const lies = {
  hang: () => {},
  destroy: (response) => response.destroy(),
  breakOff: (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"jsonrpc":')
    setTimeout(() => response.destroy(), 20)
  },
  html: (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  drip: (response) => endless(response.writeHead(200, { "content-type": "application/json" }), " ", 50),
  flood: (response) => endless(response.writeHead(200, { "content-type": "application/json" }), "[".repeat(65_536), 0),
  bomb: (response) =>
    response
      .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
      .end(gzipSync(" ".repeat(64 * 1024 * 1024))),
  nothing: (response) => response.writeHead(200, { "content-type": "application/json" }).end(),
  accepted: (response) => response.writeHead(202).end(),
  otherId: (response) => sendResult(response, "other", {}),
  emptyStream: (response) => {
    stream(response)
    response.end()
  },
  silentStream: (response) => {
    stream(response)
  },
  endlessEvent: (response) => {
    stream(response)
    return endless(response, `data: ${"x".repeat(65_536)}`, 0)
  }
} satisfies Readonly<Record<string, Lie>>

/** The worker's server, and how a server is registered there under a namespace of its own. */
export const liarStand = async () => {
  const server = await sharedServer()
  const register = (url: string) =>
    server.alpha.post("/v1/toolsets", { kind: "mcp", namespace: fresh("liar"), url, trusted: true })
  return { register, server }
}
