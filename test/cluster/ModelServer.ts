/**
 * A model provider that counts: chat completions that follow the script in the message, and a ledger of every
 * call with the node that made it, when it began and when it was over or given up.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { at, field, listIn } from "../../src/cli/client.ts"
import { emptyRound, parseScript } from "../../src/models/script.ts"
import { sse } from "../models/servers/server.ts"

export interface ModelCall {
  /** The node whose models file names this address. */
  readonly node: string
  /** First line of the message that is the script: the same for all calls of one turn. */
  readonly label: string
  /** Responses before this one in the turn. */
  readonly step: number
  /** Monotonic milliseconds of this process. */
  readonly began: number
  over?: number
  /** The caller went away before the answer was complete. */
  given?: "up"
}

const textOf = (message: unknown) => {
  const content = at(message, "content")
  return typeof content === "string"
    ? content
    : listIn(message, "content")
        .map((block) => field(block, "text"))
        .join("\n")
}

const chunk = (delta: unknown, finish: string | null = null, more: object = {}) =>
  sse({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "ledger",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more
  })

export class ModelServer {
  readonly calls: Array<ModelCall> = []
  /** Until it is over, calls wait for an answer, or get 429. */
  trouble: "hang" | "429" | undefined
  /** Calls that have met each. */
  hung = 0
  refused = 0
  readonly #server: Server
  readonly #port: number

  private constructor(server: Server, port: number) {
    this.#server = server
    this.#port = port
  }

  static async start(): Promise<ModelServer> {
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    const models = new ModelServer(server, address.port)
    server.on("request", (request, response) => {
      models.#answer(request, response).catch(() => response.destroy())
    })
    return models
  }

  /** For the node's `TROUPE_MODELS`. */
  fileFor(node: string) {
    return JSON.stringify({
      models: [
        {
          id: "ledger/model",
          provider: "openai-compatible",
          baseUrl: `http://127.0.0.1:${this.#port}/${node}`,
          contextWindow: 1_000_000,
          features: ["tools"]
        }
      ]
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    let body = ""
    for await (const part of request) body += String(part)
    if (this.trouble === "429") {
      this.refused++
      response.writeHead(429, { "content-type": "application/json", "retry-after": "1" })
      return void response.end(JSON.stringify({ error: { message: "too many requests", type: "rate_limit" } }))
    }
    const messages = listIn(JSON.parse(body), "messages")
    const from = messages.findLastIndex((message) => field(message, "role") === "user")
    const script = parseScript(textOf(messages[from]))
    const step = messages
      .slice(from + 1)
      .filter((message) => field(message, "role") === "assistant" && listIn(message, "tool_calls").length > 0).length
    const call: ModelCall = {
      node: (request.url ?? "").split("/")[1] ?? "",
      label: script.plain.split("\n")[0] ?? "",
      step,
      began: performance.now()
    }
    this.calls.push(call)
    let open = true
    response.once("close", () => {
      open = false
      call.over ??= performance.now()
      if (!response.writableFinished) call.given = "up"
    })
    const round = script.rounds[step] ?? emptyRound
    if (this.trouble === "hang") {
      this.hung++
      while (this.trouble === "hang" && open) await sleep(50)
    }
    await sleep(round.waitMs)
    if (!open) return
    response.writeHead(200, { "content-type": "text/event-stream" })
    if (round.calls.length === 0) response.write(chunk({ role: "assistant", content: `You said: ${script.plain}` }))
    for (const [index, { input, name }] of round.calls.entries()) {
      response.write(
        chunk({
          role: "assistant",
          tool_calls: [
            {
              index,
              id: `call_${step}_${index}`,
              type: "function",
              function: { name, arguments: JSON.stringify(input) }
            }
          ]
        })
      )
    }
    response.write(chunk({}, round.calls.length === 0 ? "stop" : "tool_calls"))
    response.end(
      sse({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: "ledger",
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      }) + sse("[DONE]")
    )
  }

  async stop() {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
