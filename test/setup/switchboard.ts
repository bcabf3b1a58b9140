/**
 * A port that leads to a node, and to another one when a test says so: what a browser sees of a cluster behind one
 * address. `cut` ends all connections, as a node does that is killed, and lets none in until `lead` is called.
 */
import { connect, createServer, type Socket } from "node:net"
import { once } from "node:events"

export const switchboard = async (base: string) => {
  let target: URL | undefined = new URL(base)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    // An end of one side is the end of the other; there is nothing more to say of it.
    socket.on("error", () => socket.destroy())
  }
  const server = createServer((incoming) => {
    keep(incoming)
    if (target === undefined) {
      incoming.destroy()
      return
    }
    const outgoing = connect(Number(target.port), target.hostname)
    keep(outgoing)
    incoming.pipe(outgoing)
    outgoing.pipe(incoming)
    incoming.on("close", () => outgoing.destroy())
    outgoing.on("close", () => incoming.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const cut = () => {
    target = undefined
    for (const socket of sockets) socket.destroy()
  }
  return {
    base: `http://127.0.0.1:${address.port}`,
    cut,
    lead: (to: string) => {
      target = new URL(to)
    },
    stop: () => {
      cut()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
