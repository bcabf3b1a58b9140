/**
 * What a hostile client does, with what it takes: nothing, or a key of one scope. Each attack goes on until it is told
 * to stop; what it has opened and never read stays open for as long as the process.
 */
import { Agent, createServer, request, type IncomingMessage, type Server } from "node:http"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { generateKey } from "../../../src/keys/keyText.ts"
import type { Scope } from "../../../src/keys/apiKey.ts"

export interface Target {
  /** Of one node. */
  readonly base: string
  readonly keys: Readonly<Record<Scope, string>>
  /** Of scope read, for streams alone: what else the client asks does not use up its rate. */
  readonly watchingKey: string
  /** A thread with a page of a megabyte. */
  readonly threadId: string
  /** Calls a tool whose pattern is cheap to write and dear to match. */
  readonly agentId: string
  readonly namespace: string
}

/** What became of the attempts, by status; `cut` is a connection that the node ended. */
export type Tally = Record<string, number>

interface Means {
  readonly target: Target
  readonly tally: Tally
  readonly signal: AbortSignal
}

export interface Attack {
  readonly name: string
  /** Without, no key is needed. */
  readonly scope?: Scope
  readonly run: (means: Means) => Promise<void>
}

const mebibyte = 1024 * 1024
const mostInFlight = 200
/** A quarter of what a key's rate lets through: a hundred and more are open when ten of them close. */
const streamsPerSecond = 12
const closingEvery = 24
const closedAtOnce = 10

const count = (tally: Tally, what: string | number) => {
  tally[what] = (tally[what] ?? 0) + 1
}

/** So often a second, whatever becomes of it, but for a bound of what is under way. */
const paced = async (perSecond: number, signal: AbortSignal, act: (i: number) => Promise<void> | void) => {
  const began = performance.now()
  let done = 0
  let inFlight = 0
  while (!signal.aborted) {
    for (const due = ((performance.now() - began) / 1_000) * perSecond; done < due; done++) {
      if (inFlight >= mostInFlight) continue
      inFlight++
      Promise.resolve(act(done))
        .catch(() => {})
        .finally(() => {
          inFlight--
        })
    }
    await sleep(20)
  }
}

const keepAlive = new Agent({ keepAlive: true })
/** Long polls take thirty seconds. */
const patienceMs = 40_000

const answerOf = async (asked: ReturnType<typeof request>) => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // The listener of errors stays: the node may end the connection behind its answer, where it has not read the body.
    asked.on("response", resolve).on("error", reject)
  })
  const parts: Array<Buffer> = []
  for await (const part of answer) parts.push(part)
  return { status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }
}

const bytesOf = (body: object) => Buffer.from(JSON.stringify(body))

/** As cheap for the client as it can be: what it uses of the machine, its control burns as well. */
const ask = async ({ signal, tally, target }: Means, method: string, path: string, key: string, body?: Uint8Array) => {
  try {
    const asked = request(target.base + path, {
      method,
      agent: keepAlive,
      signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(body === undefined ? {} : { "content-length": body.length })
      }
    })
    asked.end(body)
    const answer = await answerOf(asked)
    count(tally, answer.status)
    return answer
  } catch {
    // It hung up on us, or we have stopped.
    count(tally, signal.aborted ? "stopped" : "cut")
    return undefined
  }
}

/** Writes, and reads nothing ever. */
const unread = ({ tally, target }: Means, written: string | ReadonlyArray<string | Uint8Array>) => {
  const { hostname, port } = new URL(target.base)
  const socket = connect(Number(port), hostname)
  count(tally, "opened")
  // What the other side has closed is seen by an error of a write, or by its reset.
  socket.on("error", () => {}).on("close", () => count(tally, "cut"))
  for (const part of typeof written === "string" ? [written] : written) socket.write(part)
  socket.pause()
}

const head = (method: string, path: string, key?: string, more = "") =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${key === undefined ? "" : `Authorization: Bearer ${key}\r\n`}${more}\r\n`

/** Opens streams of a quiet thread, reads them all, and closes some at once from time to time. */
const streams = (means: Means) => {
  const { hostname, port } = new URL(means.target.base)
  const open = new Set<Socket>()
  return paced(streamsPerSecond, means.signal, (i) => {
    if (i % closingEvery === 0)
      for (const socket of [...open].slice(0, closedAtOnce)) {
        open.delete(socket)
        socket.destroy()
        count(means.tally, "closed")
      }
    const socket = connect(Number(port), hostname)
    socket.on("error", () => {}).on("close", () => open.delete(socket))
    socket.once("data", (bytes) => {
      const status = /^HTTP\/1.1 (\d+)/.exec(bytes.toString("latin1"))?.[1] ?? "garbled"
      count(means.tally, status)
      if (status === "200") open.add(socket.resume())
      else socket.destroy()
    })
    socket.write(head("GET", `/v1/threads/${means.target.threadId}/events/stream`, means.target.watchingKey))
  })
}

const large = "x".repeat(mebibyte - 4_096)
const largeProfile = bytesOf({ name: "large", models: ["ledger/model"], systemPrompt: large })
const largeAnswer = bytesOf({ type: "decision", decision: "allow", reason: large })
const stalled = Buffer.alloc(mebibyte - 10, 0x20)

/** Some 1,800 states in 11 characters, twenty times over. */
export const dearPattern = `^${"(?:.?){900}".repeat(20)}$`

/** Loopback has sixteen million addresses: each is an origin of its own. */
const addressOf = (i: number) => `127.${1 + ((i >> 16) & 0x7f)}.${(i >> 8) & 0xff}.${1 + (i & 0x7f)}`

let farm: Promise<{ readonly server: Server; readonly port: number }> | undefined
/** Allows everything, and asks that its connections be kept. */
const hostsPort = async () => {
  farm ??= new Promise((resolve) => {
    const server = createServer((request, response) => {
      request.resume()
      response
        .writeHead(200, { "content-type": "application/json", "keep-alive": "timeout=60" })
        .end(`{"decision":"allow"}`)
    })
    server.keepAliveTimeout = 120_000
    server.listen(0, "0.0.0.0", () => {
      const address = server.address()
      resolve({ server, port: typeof address === "object" && address !== null ? address.port : 0 })
    })
  })
  return (await farm).port
}

export const hookTest = (url: string) => ({
  hook: { name: "h", point: "before_tool_call", processor: { type: "url", url } },
  data: { point: "before_tool_call", toolCallId: "call_1", toolName: "payments.refund", toolInput: { amount: 75 } }
})

export const attacks: ReadonlyArray<Attack> = [
  {
    name: "1,800 requests in one write, answers unread",
    run: (means) =>
      paced(2, means.signal, (i) => {
        const path = ["/metrics", "/healthz", "/readyz", "/docs", "/v1/openapi.json"][Math.floor(i / 6) % 5] ?? ""
        unread(means, head("GET", path).repeat(1_800))
      })
  },
  {
    name: "guessed keys",
    run: (means) =>
      paced(200, means.signal, async () => {
        await ask(means, "GET", "/v1/auth", generateKey().key)
      })
  },
  { name: "connections that say nothing", run: (means) => paced(20, means.signal, () => unread(means, "")) },
  {
    name: "large pages unread",
    scope: "read",
    run: (means) =>
      paced(50, means.signal, () =>
        unread(
          means,
          head("GET", `/v1/threads/${means.target.threadId}/events?limit=200`, means.target.keys.read).repeat(3)
        )
      )
  },
  {
    name: "bodies that stall before their end",
    scope: "read",
    run: (means) =>
      paced(50, means.signal, () =>
        unread(means, [
          head(
            "POST",
            "/v1/roles/evaluate",
            means.target.keys.read,
            `Content-Type: application/json\r\nContent-Length: ${mebibyte}\r\n`
          ),
          stalled
        ])
      )
  },
  {
    name: "long polls",
    scope: "read",
    run: (means) =>
      paced(50, means.signal, async () => {
        await ask(
          means,
          "GET",
          `/v1/threads/${means.target.threadId}/events?afterSeq=1000000&waitSeconds=30`,
          means.target.keys.read
        )
      })
  },
  { name: "streams of a quiet thread, of which ten close at once", scope: "read", run: streams },
  {
    name: "searches of decisions",
    scope: "read",
    run: (means) =>
      paced(20, means.signal, async () => {
        await ask(means, "GET", "/v1/hooks/decisions?decision=deny&limit=200", means.target.keys.read)
      })
  },
  {
    name: "calls whose pattern is dear",
    scope: "run",
    run: (means) =>
      paced(1, means.signal, async () => {
        const { agentId, keys, namespace } = means.target
        const text = `/call ${namespace}.t {"s":"a"}\n/call ${namespace}.t {"s":"${"a".repeat(7_000)}"}`
        await ask(
          means,
          "POST",
          "/v1/threads",
          keys.run,
          bytesOf({ agentId, message: { content: [{ type: "text", text }] } })
        )
      })
  },
  {
    name: "threads without end",
    scope: "run",
    run: (means) =>
      paced(50, means.signal, async () => {
        const message = { content: [{ type: "text", text: "/wait 60s" }] }
        const body = bytesOf({ agentId: means.target.agentId, message })
        await ask(means, "POST", "/v1/threads", means.target.keys.run, body)
      })
  },
  {
    name: "a host of its own for each hook",
    scope: "write",
    run: async (means) => {
      const port = await hostsPort()
      await paced(34, means.signal, async (i) => {
        const body = bytesOf(hookTest(`http://${addressOf(i)}:${port}/`))
        await ask(means, "POST", "/v1/hooks/test", means.target.keys.write, body)
      })
    }
  },
  {
    name: "toolsets whose patterns are dear",
    scope: "write",
    run: (means) =>
      paced(5, means.signal, async (i) => {
        const tools = Array.from({ length: 20 }, (_, n) => ({
          name: `t${n}`,
          inputSchema: {
            type: "object",
            properties: { s: { type: "string", pattern: dearPattern, default: "a".repeat(1_000) } }
          }
        }))
        const body = bytesOf({ kind: "client", namespace: `n${process.pid}x${i}`, tools })
        await ask(means, "POST", "/v1/toolsets", means.target.keys.write, body)
      })
  },
  {
    name: "bodies of a megabyte",
    scope: "write",
    run: (means) =>
      paced(50, means.signal, async () => {
        await ask(means, "POST", "/v1/profiles", means.target.keys.write, largeProfile)
      })
  },
  {
    name: "answers to waits that nobody has",
    scope: "approve",
    run: (means) =>
      paced(50, means.signal, async (i) => {
        const wait = `wait_${String(i).padStart(26, "0")}`
        await ask(
          means,
          "POST",
          `/v1/threads/${means.target.threadId}/waits/${wait}/resolve`,
          means.target.keys.approve,
          largeAnswer
        )
      })
  },
  {
    name: "keys without end, and requests with each of them",
    scope: "admin",
    run: (means) => {
      const own: Array<string> = []
      return paced(100, means.signal, async (i) => {
        if (i % 2 === 0) {
          const key = own[i % Math.max(1, own.length)]
          return void (await ask(means, "GET", "/v1/threads?limit=200", key ?? means.target.keys.admin))
        }
        const body = bytesOf({ name: `more ${i}`, scopes: ["admin"] })
        const made = await ask(means, "POST", "/v1/auth/keys", means.target.keys.admin, body)
        const [token] = /trp_\w+/.exec(made?.text ?? "") ?? []
        if (token !== undefined && own.length < 500) own.push(token)
      })
    }
  }
]
