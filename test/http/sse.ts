/** A watcher of a stream: frames as they come, under the test's control of how fast it reads. */
import { request } from "node:http"
import type { IncomingMessage } from "node:http"

export interface Frame {
  readonly event: string
  readonly id: string | undefined
  readonly data: Record<string, unknown>
}

export class Watcher {
  readonly frames: Array<Frame> = []
  readonly comments: Array<string> = []
  /** All that came, as it came. */
  text = ""
  closed = false
  readonly response: IncomingMessage
  private rest = ""
  private waiting: Array<() => void> = []

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding("utf8")
    response.on("data", (chunk: string) => this.take(chunk))
    const close = () => {
      this.closed = true
      this.wake()
    }
    response.on("end", close)
    response.on("close", close)
    response.on("error", close)
  }

  /** Resolves with the answer's head; `paused` reads nothing until `resume`. */
  static open(base: string, path: string, token: string, headers: Record<string, string> = {}, paused = false) {
    return new Promise<Watcher>((resolve, reject) => {
      const outgoing = request(
        base + path,
        { headers: { authorization: `Bearer ${token}`, ...headers }, agent: false },
        (response) => {
          const watcher = new Watcher(response)
          if (paused) response.pause()
          resolve(watcher)
        }
      )
      outgoing.on("error", reject)
      outgoing.end()
    })
  }

  get status() {
    return this.response.statusCode
  }

  events(event: string) {
    return this.frames.filter((frame) => frame.event === event)
  }

  /** Waits until the frames fit. */
  async until(fits: (watcher: Watcher) => boolean, ms = 15_000) {
    const deadline = Date.now() + ms
    while (!fits(this)) {
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`the stream did not get there: ${JSON.stringify(this.frames.slice(-10))}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return this
  }

  pause() {
    this.response.pause()
  }

  resume() {
    this.response.resume()
  }

  close() {
    this.response.destroy()
  }

  private wake() {
    const waiting = this.waiting
    this.waiting = []
    for (const resolve of waiting) resolve()
  }

  private take(chunk: string) {
    this.text += chunk
    this.rest += chunk
    for (let end = this.rest.indexOf("\n\n"); end !== -1; end = this.rest.indexOf("\n\n")) {
      this.parse(this.rest.slice(0, end))
      this.rest = this.rest.slice(end + 2)
    }
    this.wake()
  }

  private parse(block: string) {
    const fields = new Map<string, string>()
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) this.comments.push(line)
      else fields.set(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart())
    }
    const data = fields.get("data")
    if (data !== undefined)
      this.frames.push({ event: fields.get("event") ?? "message", id: fields.get("id"), data: JSON.parse(data) })
  }
}
