/**
 * A client that does everything to one thread, at random, to a server that dies again and again. Every
 * request is repeated, under its idempotency key, until it is answered; the books say what was promised.
 */
import { assert } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import type { Recorded } from "../invariants.ts"

/** Numbers in [0, 1) from a seed (mulberry32). */
export const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** Where the server is, from one life to the next. */
export interface Somewhere {
  /** The base URL of the life that is up, or that comes next. */
  readonly base: () => Promise<string>
  readonly key: string
}

export interface Answered {
  readonly status: number
  readonly replayed: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** One request, however many lives it takes. */
export const request = async (
  server: Somewhere,
  method: string,
  path: string,
  body?: unknown,
  key?: string
): Promise<Answered> => {
  for (;;) {
    try {
      const response = await fetch((await server.base()) + path, {
        method,
        headers: {
          authorization: `Bearer ${server.key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(key === undefined ? {} : { "idempotency-key": key })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      if (response.status === 503 || response.status === 429) {
        await sleep(50)
        continue
      }
      if (response.status >= 500) assert.fail(`${method} ${path}: ${response.status} ${text}`)
      const parsed: unknown = text === "" ? {} : JSON.parse(text)
      return {
        status: response.status,
        replayed: response.headers.get("idempotency-replayed") === "true",
        body: Array.isArray(parsed) ? { items: parsed } : { ...(parsed as object) }
      }
    } catch (failure) {
      // The server died under the request, or has just.
      if (!(failure instanceof TypeError)) throw failure
      await sleep(10)
    }
  }
}

const scripts = [
  "",
  "",
  "",
  "\n/wait 50ms",
  "\n/wait 250ms",
  "\n/chunks 5 20ms",
  "\n/call nope {}",
  "\n/call nope {}\n/call neither {}\n/call nor {}\n/then\n/call more {}\n/wait 50ms",
  "\n/fail model_error no",
  "\n/fail model_overloaded busy"
]

export class Mixed {
  readonly server: Somewhere
  readonly random: () => number
  readonly name: string
  threadId = ""
  private count = 0
  answered = 0
  replays = 0
  readonly accepted: Array<{ readonly inputId: string; readonly mode: string }> = []
  /** Inputs whose removal was asked for, whatever the answer. */
  readonly mayBeGone = new Set<string>()
  readonly unordered = new Set<string>()
  readonly joins = new Map<string, string>()
  /** seq that was promised to an input at once. */
  readonly promised = new Map<string, unknown>()

  constructor(server: Somewhere, name: string, random: () => number) {
    this.server = server
    this.name = name
    this.random = random
  }

  private pick<T>(list: ReadonlyArray<T>): T {
    return list[Math.floor(this.random() * list.length)] ?? assert.fail("an empty list")
  }

  private async ask(method: string, path: string, body?: unknown) {
    const key = `${this.name}.${++this.count}`
    const first = await request(this.server, method, path, body, method === "POST" ? key : undefined)
    this.answered++
    if (method === "POST" && first.status < 300 && this.random() < 0.1) {
      const again = await request(this.server, method, path, body, key)
      assert.deepStrictEqual(
        again,
        { ...first, replayed: true },
        `${method} ${path}, replayed at first: ${first.replayed}`
      )
      this.replays++
    }
    return first
  }

  private note({ body, status }: Answered, mode: string) {
    if (status !== 201) return
    const inputId = String(body.id)
    this.accepted.push({ inputId, mode })
    if (body.state === "steered") this.joins.set(inputId, String(body.turnId))
    if (body.state === "admitted") this.promised.set(inputId, body.seq)
  }

  private text() {
    return `${this.name} ${this.count}${this.pick(scripts)}`
  }
  private content() {
    return [{ type: "text", text: this.text() }]
  }

  create(agentId: string) {
    return this.begin(agentId, this.random() < 0.5 ? this.text() : undefined)
  }

  async begin(agentId: string, first?: string) {
    const message = first === undefined ? {} : { message: { content: [{ type: "text", text: first }] } }
    const { body, status } = await this.ask("POST", "/v1/threads", { agentId, ...message })
    assert.strictEqual(status, 201, JSON.stringify(body))
    this.threadId = String((body.thread as { readonly id: string }).id)
    if (first !== undefined) this.note({ status, replayed: false, body: { ...(body.input as object) } }, "queue")
  }

  private submit(mode: string) {
    const content = this.content()
    return this.ask("POST", `/v1/threads/${this.threadId}/messages`, { content, mode }).then((answer) => {
      this.note(answer, mode)
      return String(answer.body.id)
    })
  }

  async step() {
    const thread = `/v1/threads/${this.threadId}`
    const dice = this.random()
    const some = this.accepted.slice(-4)
    const { inputId } = some.length === 0 ? { inputId: "" } : this.pick(some)
    if (dice < 0.4 || inputId === "") await this.submit("queue")
    else if (dice < 0.52) await this.submit("steer")
    else if (dice < 0.6) await this.submit("interrupt")
    else if (dice < 0.66)
      for (const id of await Promise.all([this.submit("queue"), this.submit("queue")])) this.unordered.add(id)
    else if (dice < 0.74) await this.ask("PATCH", `${thread}/queue/${inputId}`, { content: this.content() })
    else if (dice < 0.8) {
      this.mayBeGone.add(inputId)
      await this.ask("DELETE", `${thread}/queue/${inputId}`)
    } else if (dice < 0.9) {
      this.unordered.add(inputId)
      const { body, status } = await this.ask("POST", `${thread}/queue/${inputId}/promote`, {
        mode: this.random() < 0.5 ? "steer" : "interrupt"
      })
      if (status === 200 && body.state === "steered") this.joins.set(inputId, String(body.turnId))
    } else if (dice < 0.96) {
      const clearQueue = this.random() < 0.3
      if (clearQueue) for (const { inputId } of this.accepted) this.mayBeGone.add(inputId)
      await this.ask("POST", `${thread}/cancel`, { clearQueue })
    } else this.note(await this.ask("POST", `${thread}/retry`, {}), "queue")
  }

  /** Resolves when the thread rests: by long polls of its log. */
  async rest(): Promise<void> {
    for (let deadline = Date.now() + 30_000; ; ) {
      const { body } = await request(this.server, "GET", `/v1/threads/${this.threadId}`)
      const busy = body.status === "running" || body.status === "awaiting"
      if (!busy) return
      if (Date.now() > deadline) assert.fail(`${this.threadId} does not come to rest: ${JSON.stringify(body)}`)
      await request(
        this.server,
        "GET",
        `/v1/threads/${this.threadId}/events?waitSeconds=2&afterSeq=${String(body.lastSeq)}`
      )
    }
  }

  /** The whole log, by pages. */
  async events() {
    const events: Array<Readonly<Record<string, unknown>>> = []
    for (let path = `/v1/threads/${this.threadId}/events?limit=50`; path !== ""; ) {
      const { body } = await request(this.server, "GET", path)
      events.push(...(body.events as typeof events))
      const cursor = body.nextCursor
      path =
        typeof cursor === "string"
          ? `/v1/threads/${this.threadId}/events?limit=50&cursor=${encodeURIComponent(cursor)}`
          : ""
    }
    return events
  }

  /** Inputs that never ran because somebody took them back. */
  async gone(): Promise<ReadonlySet<string>> {
    const gone = new Set<string>()
    for (const { inputId } of this.accepted) {
      const { body, status } = await request(this.server, "GET", `/v1/threads/${this.threadId}/queue/${inputId}`)
      assert.strictEqual(status, 200, `${inputId} was acknowledged`)
      if (body.state === "cancelled") gone.add(inputId)
    }
    assert.includeMembers([...this.mayBeGone], [...gone], "nobody asked for its removal")
    return gone
  }

  /** Every seq that an answer promised is where that input stands. */
  keptPromises(log: ReadonlyArray<Recorded>) {
    for (const [inputId, seq] of this.promised) {
      assert.deepInclude(log.find((fact) => fact.seq === seq)?.event ?? {}, { inputId })
    }
  }
}
