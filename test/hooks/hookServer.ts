/**
 * An endpoint for url hooks, to be told what to answer. It keeps what it received, and holds signatures
 * against its secrets with the library that receivers use.
 *
 *     const hooks = await startHookServer()
 *     hooks.answers(status(500), allow())      // in this order; the last one stays
 *     … processor: { type: "url", url: hooks.url }
 *     hooks.received[0]?.body.attempt
 *     hooks.endpoint(deny()).url               // one of its own, that always answers so
 *     await hooks.stop()
 */
import { randomBytes } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: {
    readonly [field: string]: unknown
    readonly attempt?: number
    readonly deliveryId?: string
    readonly data?: unknown
  }
  /** Which of the secrets have signed this. */
  readonly signedBy: ReadonlyArray<string>
  readonly at: number
}

/** What becomes of a request. */
export type Reply = (response: ServerResponse, received: Received) => void

export const json =
  (body: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
export const text =
  (body: string, code = 200): Reply =>
  (response) =>
    response.writeHead(code, { "content-type": "text/plain" }).end(body)

export const allow = (more: object = {}) => json({ decision: "allow", ...more })
export const deny = (reason?: string) => json({ decision: "deny", ...(reason !== undefined && { reason }) })
export const ask = (more: object = {}) => json({ decision: "ask", ...more })
export const defer = () => json({ decision: "defer" })
export const rewrite = (value: object) => allow({ rewrite: value })
export const garbage = () => text("}{ this is no answer")
export const status = (code: number, headers?: Readonly<Record<string, string>>) =>
  json({ error: "told to" }, code, headers)
export const tooMany = (retryAfter?: string) =>
  status(429, retryAfter === undefined ? {} : { "retry-after": retryAfter })
export const redirect = (location: string, code = 307) => json({ decision: "allow" }, code, { location })
/** Takes the request and says nothing, for as long as the caller stays. */
export const hang = (): Reply => () => {}
/** Begins an answer and never ends it. */
export const endless = (): Reply => (response) => {
  response.writeHead(200, { "content-type": "application/json" })
  const drip = setInterval(() => response.write(" "), 50)
  response.on("close", () => clearInterval(drip))
}
export const after =
  (ms: number, reply: Reply): Reply =>
  (response, received) => {
    const timer = setTimeout(() => reply(response, received), ms)
    response.on("close", () => clearTimeout(timer))
  }
/** A valid answer of so many bytes. */
export const sized =
  (bytes: number): Reply =>
  (response) => {
    const answer = JSON.stringify({ decision: "allow" })
    response.writeHead(200, { "content-type": "application/json" }).end(answer + " ".repeat(bytes - answer.length))
  }
/** Closes the connection without a word. */
export const nothing = (): Reply => (response) => {
  response.destroy()
}

export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`

const verified = (secrets: ReadonlyArray<string>, body: string, headers: IncomingHttpHeaders) => {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return secrets.filter((secret) => {
    try {
      new Webhook(secret).verify(body, given, { jsonParse: false })
      return true
    } catch {
      return false
    }
  })
}

const parsed = (body: string): Received["body"] => {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

export const startHookServer = async () => {
  const received: Array<Received> = []
  const waiting: Array<() => void> = []
  const endpoints = new Map<string, Reply>()
  let replies: ReadonlyArray<Reply> = [allow()]
  let secrets: ReadonlyArray<string> = []
  let canary = 0

  const server = createServer((request, response) => {
    const path = request.url ?? "/"
    if (path.startsWith("/canary")) {
      canary++
      return json({ decision: "allow" })(response, {
        path,
        headers: request.headers,
        text: "",
        body: {},
        signedBy: [],
        at: Date.now()
      })
    }
    const chunks: Array<Buffer> = []
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8")
        const { headers } = request
        const one: Received = {
          path,
          headers,
          text: body,
          body: parsed(body),
          signedBy: verified(secrets, body, headers),
          at: Date.now()
        }
        received.push(one)
        for (const wake of waiting.splice(0)) wake()
        const own = endpoints.get(path)
        if (own !== undefined) return own(response, one)
        const [reply = allow(), ...rest] = replies
        if (rest.length > 0) replies = rest
        reply(response, one)
      })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a server on a port has an address")
  const { port } = address

  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** An address of its own, and what came there. */
    endpoint: (reply: Reply) => {
      const path = `/hook/${endpoints.size}`
      endpoints.set(path, reply)
      return {
        url: `http://127.0.0.1:${port}${path}`,
        received: (): ReadonlyArray<Received> => received.filter((one) => one.path === path)
      }
    },
    /** Counted apart: nobody is sent here except by a redirect. */
    canaryUrl: `http://127.0.0.1:${port}/canary`,
    canary: () => canary,
    received: received as ReadonlyArray<Received>,
    /** Until so many were received in all. */
    until: async (count: number) => {
      while (received.length < count)
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
        })
      return received
    },
    /** In this order; the last one stays. */
    answers: (...next: ReadonlyArray<Reply>) => {
      replies = next
    },
    /** That signatures are held against. */
    trusts: (...next: ReadonlyArray<string>) => {
      secrets = next
    },
    forget: () => {
      received.length = 0
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
export type HookServer = Awaited<ReturnType<typeof startHookServer>>
