/**
 * A TCP proxy that can do to a connection what networks do: hold, delay, reset, forget.
 *
 * Nothing is lost while a direction is held: what was sent arrives when it is let go, as on a network that
 * drops packets and comes back. That is the harder case: a beat of a lease may arrive long after its time.
 */
import { connect, createServer, type Server, type Socket } from "node:net"

export type Direction = "up" | "down"

/** `up` goes to the server. */
const directions: ReadonlyArray<Direction> = ["up", "down"]

interface Link {
  /** The node's side. */
  readonly client: Socket
  /** The server's side. */
  readonly server: Socket
  /** What the connection says of itself in its first words: a node's connections to PostgreSQL have names. */
  name: string
  /** The server's side is gone, and the node is not told. */
  deaf: boolean
  /** The node has closed it while it was held: the server learns of it after what it has sent. */
  left: boolean
  readonly waiting: { readonly up: Array<Buffer | string>; readonly down: Array<Buffer | string> }
}

export class Proxy {
  readonly port: number
  readonly #server: Server
  readonly #links = new Set<Link>()
  /** What is held, and of which connections only. */
  readonly #held = new Map<Direction, string>()
  #delayMs = 0
  #refusing = false
  #resetShare = 0
  /** What is sent right before a reset arrives up to so much later; 0: at once. */
  #lateMs = 0
  #resetOnly = ""
  #random: () => number = Math.random
  /** Chunks held and delayed, connections cut, since the counters were set to 0. */
  counted = { held: 0, resets: 0, delayed: 0 }

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async to(port: number, host = "127.0.0.1"): Promise<Proxy> {
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    const proxy = new Proxy(server, address.port)
    server.on("connection", (client) => proxy.#link(client, connect(port, host)))
    return proxy
  }

  #link(client: Socket, server: Socket) {
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on("error", () => {})
    }
    if (this.#refusing) {
      client.resetAndDestroy()
      server.destroy()
      return
    }
    const link: Link = { client, server, name: "", deaf: false, left: false, waiting: { up: [], down: [] } }
    this.#links.add(link)
    client.on("close", () => {
      if (!this.#links.has(link)) return
      if (link.waiting.up.length > 0) link.left = true
      else this.#end(link)
    })
    server.on("close", () => {
      if (!link.deaf) this.#end(link)
    })
    client.on("data", (chunk) => {
      if (link.name === "") link.name = chunk.toString("latin1")
      this.#pass("up", chunk, link)
    })
    server.on("data", (chunk) => this.#pass("down", chunk, link))
  }

  #end(link: Link) {
    this.#links.delete(link)
    link.client.destroy()
    link.server.destroy()
  }

  #pass(direction: Direction, chunk: Buffer | string, link: Link) {
    const only = this.#held.get(direction)
    if (link.waiting[direction].length > 0 || (only !== undefined && link.name.includes(only))) {
      this.counted.held++
      link.waiting[direction].push(chunk)
      return
    }
    const to = direction === "up" ? link.server : link.client
    if (
      direction === "up" &&
      this.#resetShare > 0 &&
      link.name.includes(this.#resetOnly) &&
      this.#random() < this.#resetShare
    ) {
      // The server gets it and works on it; the node never hears.
      this.counted.resets++
      if (this.#lateMs > 0) return this.#resetLate(chunk, link)
      link.server.pause()
      link.server.write(chunk, () => setTimeout(() => this.#reset(link), this.#random() * 3))
      return
    }
    if (this.#delayMs === 0) return void to.write(chunk)
    this.counted.delayed++
    setTimeout(() => {
      to.write(chunk)
    }, this.#delayMs)
  }

  #reset(link: Link) {
    this.#links.delete(link)
    link.client.resetAndDestroy()
    link.server.destroy()
  }

  /** The node is told that the connection is gone; what it sent last arrives all the same. */
  #resetLate(chunk: Buffer | string, link: Link) {
    this.#links.delete(link)
    link.client.resetAndDestroy()
    setTimeout(
      () => link.server.write(chunk, () => setTimeout(() => link.server.destroy(), 1_000)),
      this.#lateMs * (0.1 + 0.9 * this.#random())
    )
  }

  /**
   * Holds what flows in these directions, in connections to come as well, until `letThrough` or `heal`; `only` those
   * whose first words hold this.
   */
  hold(which: ReadonlyArray<Direction> = directions, only = "") {
    for (const direction of which) this.#held.set(direction, only)
  }

  /** Each chunk takes so much longer, each way. */
  delay(ms: number) {
    this.#delayMs = ms
  }

  /** Resets all connections, and those to come while `refuse` holds. */
  reset(refuse = false) {
    this.#refusing = refuse
    for (const link of [...this.#links]) {
      this.counted.resets++
      this.#reset(link)
    }
  }

  /** The server's sides go; the node's stay open, and say nothing any more. */
  forget() {
    for (const link of this.#links) {
      link.deaf = true
      this.counted.resets++
      link.server.destroy()
    }
  }

  /**
   * This share of the chunks to the server arrives there, and its connection is reset before an answer; up to `lateMs`
   * before it arrives.
   */
  resetSome(share: number, random: () => number, { lateMs = 0, only = "" } = {}) {
    this.#resetShare = share
    this.#random = random
    this.#lateMs = lateMs
    this.#resetOnly = only
  }

  /** Lets this direction through again, first what was held of it, late as it is; all else stays. */
  letThrough(direction: Direction) {
    this.#held.delete(direction)
    for (const link of this.#links) this.#flush(link, direction)
  }

  #flush(link: Link, direction: Direction) {
    const to = direction === "up" ? link.server : link.client
    for (const chunk of link.waiting[direction].splice(0)) to.write(chunk)
    if (direction === "up" && link.left) link.server.end()
  }

  /** Lets everything through again, first what was held, late as it is. */
  heal() {
    this.#held.clear()
    this.#delayMs = 0
    this.#refusing = false
    this.#resetShare = 0
    for (const link of [...this.#links]) {
      if (link.deaf) {
        this.#reset(link)
        continue
      }
      for (const direction of directions) this.#flush(link, direction)
    }
  }

  async close() {
    for (const link of [...this.#links]) this.#reset(link)
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
