/** Servers that misbehave: each connection is handed to the test as a bare socket, once the head of a request is in. */
import { createServer, type AddressInfo, type Socket } from "node:net"

export interface RawServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly port: number
  /** Connections that were accepted since the start. */
  readonly connections: () => number
  /** What was sent in, one text per connection. */
  readonly heard: ReadonlyArray<string>
  /** Resolves once every connection so far is closed. */
  readonly allClosed: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** `answer` gets the socket after the first blank line, and at each further one on the same connection. */
export const rawServer = async (
  answer: (socket: Socket, head: string) => void,
  host = "127.0.0.1"
): Promise<RawServer> => {
  const open = new Set<Socket>()
  const heard: Array<string> = []
  let accepted = 0
  let closed: () => void = () => {}
  const server = createServer((socket) => {
    const index = accepted++
    heard.push("")
    open.add(socket)
    let pending = ""
    socket.on("data", (bytes) => {
      heard[index] += bytes.toString("latin1")
      pending += bytes.toString("latin1")
      for (let end = pending.indexOf("\r\n\r\n"); end >= 0; end = pending.indexOf("\r\n\r\n")) {
        const head = pending.slice(0, end)
        pending = pending.slice(end + 4)
        answer(socket, head)
      }
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      open.delete(socket)
      if (open.size === 0) closed()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    connections: () => accepted,
    heard,
    allClosed: () =>
      new Promise((resolve) => {
        if (open.size === 0) resolve()
        else closed = resolve
      }),
    stop: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}

/** Writes a piece again and again for as long as the other side takes it. */
export const endlessly = (socket: Socket, piece: Uint8Array | string) => {
  const write = () => {
    while (!socket.destroyed && socket.write(piece)) {
      /* until the buffer is full */
    }
  }
  socket.on("drain", write)
  write()
}

/** Writes a piece every few milliseconds, for ever. */
export const drip = (socket: Socket, piece: string, everyMs: number) => {
  const timer = setInterval(() => socket.write(piece), everyMs)
  socket.on("close", () => clearInterval(timer))
}
