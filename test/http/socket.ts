/** A client that speaks HTTP/1.1 on a bare socket: it sends what it likes, and reads when it likes. */
import { connect, type Socket } from "node:net"

export class Line {
  readonly socket: Socket
  text = ""
  closed = false
  #waiting: Array<() => void> = []

  constructor(base: string) {
    const { hostname, port } = new URL(base)
    this.socket = connect(Number(port), hostname)
    this.socket.on("data", (bytes) => {
      this.text += bytes.toString("latin1")
      this.#wake()
    })
    const close = () => {
      this.closed = true
      this.#wake()
    }
    this.socket.on("close", close).on("error", close)
  }

  send(text: string) {
    this.socket.write(text, "latin1")
    return this
  }

  /** Waits until `holds` does; where the connection ends first, the error has the end of what came. */
  async until(holds: (line: Line) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.closed) throw new Error(`the connection ended: ${this.text.slice(-2_000)}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this
  }

  async untilClosed(): Promise<this> {
    while (!this.closed) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this
  }

  /** The statuses of all answers so far. */
  get statuses() {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  /** Bodies of all answers so far, which are JSON on one line each. */
  get bodies() {
    return [...this.text.matchAll(/\r\n\r\n(\{[^\r\n]*?\}|\[[^\r\n]*?\])(?=HTTP\/1\.1 |$)/g)].map(
      ([, json = ""]): unknown => JSON.parse(json)
    )
  }

  close() {
    this.socket.destroy()
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** A request as text. A body gets its length: whoever sends one in chunks leaves `body` out and writes them behind. */
export const request = (
  method: string,
  path: string,
  key?: string,
  options: { readonly body?: string; readonly headers?: ReadonlyArray<string> } = {}
) =>
  [
    `${method} ${path} HTTP/1.1`,
    "Host: x",
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...(options.headers ?? []),
    ...(options.body === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(options.body)}`]),
    "",
    options.body ?? ""
  ].join("\r\n")
