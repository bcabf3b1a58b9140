/** A local provider: HTTP, a queue of behaviours, and one protocol that says what they look like on the wire. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { problemIn, type Said } from "./history.ts"
import { problemInTools, type Shown } from "./tools.ts"

export interface Answer {
  readonly reasoning?: string
  /** Streamed as one delta each. */
  readonly text?: ReadonlyArray<string>
  /** `input` as JSON, or the raw text that the model made of it; `id` where the provider gives another than usual. */
  readonly calls?: ReadonlyArray<
    | { readonly name: string; readonly input: unknown; readonly id?: string }
    | { readonly name: string; readonly raw: string; readonly id?: string }
  >
  readonly usage?: {
    readonly input: number
    readonly cached?: number
    readonly output: number
    readonly reasoning?: number
  }
  /** How it ends; `stop` or the protocol's word for calls by default. */
  readonly end?: "length" | "refused"
}

export type Behaviour =
  | {
      readonly kind: "answer"
      readonly answer: Answer
      /** Comments sent before it, a pause apart. */
      readonly pings?: { readonly count: number; readonly pauseMs: number }
      /** It comes behind this. */
      readonly after?: Promise<unknown>
    }
  | {
      readonly kind: "status"
      readonly status: number
      readonly message?: string
      readonly code?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Nothing is ever sent. */
  | { readonly kind: "hang" }
  /**
   * The text is sent, then: nothing, a broken connection, a proper end without completion, the same in the middle of a
   * word of one more frame, or the protocol's error frame.
   */
  | {
      readonly kind: "silent" | "cut" | "unfinished" | "torn" | "error"
      readonly text: ReadonlyArray<string>
      readonly usage?: Answer["usage"]
    }

/** An answer with the ids that the server gave it. */
export interface Issued extends Answer {
  readonly id: string
  readonly callIds: ReadonlyArray<string>
  /** Signature or encrypted content, when there is reasoning. */
  readonly token?: string
}

export interface Protocol {
  readonly path: (url: string) => boolean
  readonly authorized: (request: IncomingMessage, key: string) => boolean
  readonly history: (body: unknown) => ReadonlyArray<Said>
  /** What the model is shown. */
  readonly tools: (body: unknown) => ReadonlyArray<Shown>
  /** What else the provider refuses. */
  readonly refuses?: (body: unknown) => string | undefined
  readonly errorBody: (status: number, message: string, code: string | undefined) => unknown
  /** Frames of the content, without completion. */
  readonly content: (answer: Issued) => ReadonlyArray<string>
  /** Frames that complete it. */
  readonly completion: (answer: Issued) => ReadonlyArray<string>
  /** A failure in the middle of a stream: overload. */
  readonly errorFrame: string
}

export interface ProviderServer {
  readonly url: string
  readonly key: string
  /** Bodies of the requests, in order. */
  readonly requests: Array<unknown>
  /** Connections that were accepted, whatever came over them. */
  readonly connections: () => number
  /** What comes next; an empty queue answers "ok". */
  readonly enqueue: (...behaviours: ReadonlyArray<Behaviour>) => void
  /** Resolves when the client has closed the connection of the next unfinished response. */
  readonly abandoned: Promise<void>
  readonly stop: () => Promise<void>
}

export const sse = (data: unknown, event?: string) =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  const body: unknown = JSON.parse(text)
  return body
}

/** The last frame that holds a word, up to the middle of it. */
const tornOf = (frames: ReadonlyArray<string>) => {
  const frame = frames.findLast((text) => text.includes("data: {")) ?? ""
  return frame.slice(0, Math.floor(frame.length / 2))
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const startServer = async (protocol: Protocol, key = "test-key"): Promise<ProviderServer> => {
  const queue: Array<Behaviour> = []
  const requests: Array<unknown> = []
  const issued = new Map<string, string>()
  const gone = Promise.withResolvers<void>()
  let count = 0
  let accepted = 0

  const issue = (answer: Answer): Issued => {
    const id = `r${++count}`
    const callIds = (answer.calls ?? []).map((call, index) => call.id ?? `call_${id}_${index}`)
    if (answer.reasoning === undefined) return { ...answer, id, callIds }
    const token = Buffer.from(`signed ${id}`).toString("base64")
    // Of an id that was given twice the first call keeps it.
    for (const callId of callIds) if (!issued.has(callId)) issued.set(callId, token)
    return { ...answer, id, callIds, token }
  }

  const refuse = (
    response: ServerResponse,
    status: number,
    message: string,
    code?: string,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify(protocol.errorBody(status, message, code)))
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    response.on("close", () => {
      if (!response.writableFinished) gone.resolve()
    })
    const body = await readBody(request)
    requests.push(body)
    if (!protocol.path(request.url ?? "")) return refuse(response, 404, `no such path: ${request.url ?? ""}`)
    if (!protocol.authorized(request, key)) return refuse(response, 401, "the key is not valid")
    const problem =
      protocol.refuses?.(body) ?? problemInTools(protocol.tools(body)) ?? problemIn(protocol.history(body), issued)
    if (problem !== undefined) return refuse(response, 400, problem)

    const behaviour = queue.shift() ?? { kind: "answer", answer: { text: ["ok"] } }
    if (behaviour.kind === "hang") return
    if (behaviour.kind === "status")
      return refuse(
        response,
        behaviour.status,
        behaviour.message ?? `status ${behaviour.status}`,
        behaviour.code,
        behaviour.headers
      )
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.flushHeaders()
    if (behaviour.kind === "answer") {
      const answer = issue(behaviour.answer)
      for (let ping = 0; ping < (behaviour.pings?.count ?? 0); ping++) {
        response.write(": ping\n\n")
        await pause(behaviour.pings?.pauseMs ?? 0)
      }
      await behaviour.after
      for (const frame of [...protocol.content(answer), ...protocol.completion(answer)]) response.write(frame)
      response.end()
      return
    }
    const { text, usage } = behaviour
    const said = protocol.content(issue({ text, ...(usage === undefined ? {} : { usage }) }))
    for (const frame of said) response.write(frame)
    if (behaviour.kind === "unfinished") response.end()
    if (behaviour.kind === "torn") response.end(tornOf(said))
    if (behaviour.kind === "error") response.end(protocol.errorFrame)
    // What was written must arrive before the connection breaks.
    if (behaviour.kind === "cut") setTimeout(() => response.destroy(), 20)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) =>
      refuse(response, 500, `the test server failed: ${String(error)}`)
    )
  })
  server.on("connection", () => accepted++)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    key,
    requests,
    connections: () => accepted,
    enqueue: (...behaviours) => void queue.push(...behaviours),
    abandoned: gone.promise,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export const inputText = (call: NonNullable<Answer["calls"]>[number]) =>
  "raw" in call ? call.raw : JSON.stringify(call.input)
