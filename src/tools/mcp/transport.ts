/**
 * The SDK's transport over streamable HTTP, behind the guarded client, with an end to everything.
 *
 * P1. A request whose stream ends without an answer fails at once: the SDK would wait for its timeout.
 * P2. The stream of a request that was answered or cancelled is closed, whatever the server does with it.
 * P3. A stream that broke off is opened again at most once in `reopenMs`, whatever the server wishes, and not for ever.
 * P4. What the server says is read without the credential that it was asked with, and without leases.
 * P5. Time and bytes of each exchange are capped: of a call as a call needs it, of listening as a long wait does.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport
} from "@modelcontextprotocol/client"
import { limits } from "../../domain/limits.ts"
import type { FetchLimits } from "../../outbound/Outbound.ts"
import type { Reach } from "../../domain/url.ts"
import { hide } from "./hide.ts"
import { refusalOf } from "./refusal.ts"
import { noAnswer } from "./thrown.ts"

/** A server that has answered ends its stream by itself, and the connection can be used again: given that much time. */
const endMs = 1_000
const reopenMs = 2_000

/** Of an exchange that ends by itself within that time. */
const ofCall = (ms: number): FetchLimits => ({
  headerTimeoutMs: ms + 5_000,
  bodyTimeoutMs: ms + 5_000,
  maxBytes: 4 * 1024 * 1024
})
const ofListening: FetchLimits = { headerTimeoutMs: 10_000, bodyTimeoutMs: 600_000, maxBytes: 1024 * 1024 }

/** What a request is sent with. Asked for each time: a secret that was replaced is not used again. */
export interface ServerCredential {
  readonly token?: string
  /** Takes the token as it is; without it, it is the Authorization header's, as a Bearer. */
  readonly header?: string
  readonly reach?: Reach
}

export interface TransportOptions {
  readonly url: string
  /** Rejects where there should be a credential and is none. */
  readonly credential: () => Promise<ServerCredential>
  readonly fetch: (limits: FetchLimits) => typeof globalThis.fetch
}

const listens = (method: string | undefined, headers: Headers) =>
  method === "GET" || headers.get("mcp-method") === "subscriptions/listen"

/** On its way to `fetch` only: tells it which request it is sending. */
const mark = "x-troupe-request"
/** The same: for how many milliseconds its answer is waited for, where that is not the usual time. */
export const answerWithin = "x-troupe-within"

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1]

export class McpTransport extends StreamableHTTPClientTransport {
  /** Requests that were not answered yet, or whose stream is still open. */
  readonly #open = new Map<unknown, AbortController>()
  /** Marks of requests whose answer comes as a stream. */
  readonly #streaming: Set<string>
  /** Credentials that this server was sent. */
  readonly #secrets: Set<string>
  #sent = 0

  constructor({ credential, fetch, url }: TransportOptions) {
    const streaming = new Set<string>()
    const secrets = new Set<string>()
    super(new URL(url), {
      fetch: async (url, init) => {
        const { header, reach, token } = await credential()
        const headers = new Headers(init?.headers)
        const marked = headers.get(mark)
        const ms = Number(headers.get(answerWithin) ?? limits.mcpCallMs.usual)
        for (const name of [mark, answerWithin]) headers.delete(name)
        if (token !== undefined) {
          if (header === undefined) headers.set("authorization", `Bearer ${token}`)
          else headers.set(header, token)
          secrets.add(token)
        }
        const response = await fetch({ ...(listens(init?.method, headers) ? ofListening : ofCall(ms)), reach })(url, {
          ...init,
          headers
        })
        if (marked !== null && response.ok && response.headers.get("content-type")?.startsWith("text/event-stream"))
          streaming.add(marked)
        return response
      },
      reconnectionScheduler: (reconnect, delay) => {
        const timer = setTimeout(reconnect, Math.max(delay, reopenMs))
        return () => clearTimeout(timer)
      }
    })
    this.#streaming = streaming
    this.#secrets = secrets
    // Whoever connects calls it before its own.
    this.onmessage = (message) => {
      hide(message, this.#secrets)
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message.id)
    }
  }

  #answered(id: unknown) {
    const open = this.#open.get(id)
    if (open === undefined) return
    const timer = setTimeout(() => this.#ended(id), endMs)
    open.signal.addEventListener("abort", () => clearTimeout(timer))
  }

  /** Nothing more comes for this request. */
  #ended(id: unknown) {
    this.#open.get(id)?.abort()
    this.#open.delete(id)
  }

  override async send(message: JSONRPCMessage, options: SendOptions = {}) {
    const inSession = this.sessionId !== undefined
    try {
      return await this.#send(message, options)
    } catch (error) {
      throw error instanceof SdkHttpError
        ? refusalOf(error, {
            id: isJSONRPCRequest(message) ? message.id : undefined,
            inSession,
            secrets: this.#secrets
          })
        : error
    }
  }

  async #send(message: JSONRPCMessage, options: NonNullable<SendOptions>) {
    if (!isJSONRPCRequest(message)) {
      try {
        return await super.send(message, options)
      } finally {
        if ("method" in message && message.method === "notifications/cancelled") this.#ended(message.params?.requestId)
      }
    }
    const { id, jsonrpc } = message
    const { headers, onRequestStreamEnd, requestSignal } = options
    const open = new AbortController()
    this.#open.set(id, open)
    requestSignal?.addEventListener("abort", () => this.#ended(id), { once: true })
    const marked = String(this.#sent++)
    const over = () => {
      // Of one that was answered nobody waits for this any more.
      this.onmessage?.({
        jsonrpc,
        id,
        error: { code: ProtocolErrorCode.InternalError, message: "no answer", data: noAnswer }
      })
      this.#ended(id)
    }
    try {
      await super.send(message, {
        ...options,
        headers: { ...headers, [mark]: marked },
        requestSignal: requestSignal === undefined ? open.signal : AbortSignal.any([requestSignal, open.signal]),
        onRequestStreamEnd: () => {
          over()
          onRequestStreamEnd?.()
        }
      })
      if (!this.#streaming.delete(marked)) over()
    } catch (error) {
      this.#streaming.delete(marked)
      this.#ended(id)
      throw error
    }
  }

  override async close() {
    for (const id of [...this.#open.keys()]) this.#ended(id)
    await super.close()
  }
}
