/** Listeners under test: the requests and connections that they take, and clients that wait for them. */
import { assert } from "@effect/vitest"
import { once } from "node:events"
import type { IncomingMessage, Server } from "node:http"
import type { Socket } from "node:net"
import { send } from "./client.ts"
import { Line } from "./socket.ts"
import { World } from "./tiny.ts"

export const thread = "thr_01h455vb4pex5vsknk084sn02q"
export const note = (text: string) => JSON.stringify({ content: [{ type: "text", text }] })
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
/** A request of somebody else is answered: the server has turned to all that came before it. */
export const answered = async (base: string) => assert.strictEqual((await send(`${base}/healthz`)).status, 200)

/** What a file's tests stand on: who has a key, and what the listeners that are watched have taken. */
export const listenerStand = () => {
  const world = new World()
  const { key } = world.issue(["read", "run"])
  /** Requests as the servers found them, and the connections that they took. */
  const found: Array<string> = []
  const taken: Array<Socket> = []
  const watch = (server: Server) => {
    server.prependListener("request", (message: IncomingMessage) => found.push(message.url ?? ""))
    server.on("connection", (socket: Socket) => taken.push(socket))
  }
  /** The server's end of a connection that is made meanwhile. */
  const acceptedBy = async (base: string) => {
    const before = taken.length
    const line = new Line(base)
    await once(line.socket, "connect")
    while (taken.length === before) await pause(1)
    return { line, end: taken.at(-1)! }
  }
  return { acceptedBy, found, key, taken, watch, world }
}
