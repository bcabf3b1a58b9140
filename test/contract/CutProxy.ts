/**
 * A TCP proxy before PostgreSQL that loses a connection at the worst moment: before or after the
 * statement that a test waits for has reached the server.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

export interface CutProxy {
  readonly url: string
  /** The next connection that sends this text is lost: before the server gets it, or when it has answered. */
  readonly cut: (text: string, when: "before" | "after") => void
  /** The same, as soon as the text has been sent on, without waiting for an answer. Resolves then. */
  readonly cutOnceSent: (text: string) => Promise<void>
  /** Holds all traffic, new connections too, until called again with false. */
  readonly hold: (held: boolean) => void
  readonly close: () => Promise<void>
}

export const cutProxy = async (target: string): Promise<CutProxy> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let plan:
    | { readonly text: string; readonly when: "before" | "after" | "sent"; readonly done?: () => void }
    | undefined
  let held = false

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let cutting = false
    const lose = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (held) socket.pause()
      socket.on("error", lose)
      socket.on("close", () => {
        sockets.delete(socket)
        lose()
      })
    }
    client.on("data", (chunk) => {
      if (plan !== undefined && chunk.includes(plan.text)) {
        const { done, when } = plan
        plan = undefined
        if (when === "before") return lose()
        if (when === "after") cutting = true
        if (when === "sent") {
          // Only our side is closed: the server works on, and notices later.
          upstream.write(chunk, () => {
            client.destroy()
            done?.()
          })
          return
        }
      }
      upstream.write(chunk)
    })
    upstream.on("data", (chunk) => {
      if (cutting) lose()
      else client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const url = new URL(target)
  url.hostname = "127.0.0.1"
  const address = server.address()
  url.port = String(isAddress(address) ? address.port : 0)
  return {
    url: url.href,
    cut: (text, when) => {
      plan = { text, when }
    },
    cutOnceSent: (text) =>
      new Promise((resolve) => {
        plan = { text, when: "sent", done: resolve }
      }),
    hold: (now) => {
      held = now
      for (const socket of sockets) now ? socket.pause() : socket.resume()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    }
  }
}

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === "object" && address !== null
