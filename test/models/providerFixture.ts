/** The ways to a real model, each with a server that behaves as told, and what is said to it. */
import { Effect } from "effect"
import { layer } from "../../src/models/layer.ts"
import type { ModelReply, Models, PromptMessage } from "../../src/models/Model.ts"
import { toProviderName } from "../../src/models/toolNames.ts"
import { turnId } from "./prompts.ts"
import { type Behaviour, type ProviderServer, startServer } from "./servers/server.ts"
import { type Way, ways as servedWays } from "./servers/ways.ts"

/** A way to a real model, and what is particular to the requests of its provider. */
export interface AskedWay extends Way {
  readonly model: Readonly<Record<string, unknown>> & { readonly id: string }
  /** Whether a call's input can be broken JSON on this wire. */
  readonly rawInput: boolean
  /** How at most 4,321 tokens, a temperature of 1.5 and little reasoning look in its requests. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What it does not know of them: no property of its requests has that name. */
  readonly unknown: ReadonlyArray<string>
}

const particulars: Readonly<Record<string, Pick<AskedWay, "rawInput" | "settings" | "unknown">>> = {
  openai: {
    rawInput: true,
    settings: { max_output_tokens: 4_321, reasoning: { effort: "low" } },
    unknown: ["temperature"]
  },
  "openai chat": {
    rawInput: true,
    settings: { max_tokens: 4_321, temperature: 1.5 },
    unknown: ["reasoning_effort"]
  },
  anthropic: {
    rawInput: true,
    settings: { max_tokens: 4_321, thinking: { type: "enabled", budget_tokens: 2_160 } },
    unknown: ["temperature"]
  },
  google: {
    rawInput: false,
    settings: {
      generationConfig: { maxOutputTokens: 4_321, temperature: 1.5, thinkingConfig: { thinkingLevel: "low" } }
    },
    unknown: []
  },
  "openai-compatible": {
    rawInput: true,
    settings: { max_tokens: 4_321, temperature: 1.5 },
    unknown: ["reasoning_effort"]
  }
}

export const ways = servedWays.map((way): AskedWay => {
  const particular = particulars[way.title]
  if (particular === undefined) throw new Error(`nothing is known of ${way.title}`)
  return { ...way, model: { id: way.id, ...way.more }, ...particular }
})

/** A loaded machine may take a while to begin an answer. */
export const idleMs = 1_000

export const pricing = { input: 1, output: 10, cacheRead: 0.1 }

/** A server that behaves as told, and `Models` that know it. */
export const withProvider = <A, E>(
  way: AskedWay,
  behaviours: ReadonlyArray<Behaviour>,
  use: (server: ProviderServer) => Effect.Effect<A, E, Models>,
  key = "test-key"
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => startServer(way.protocol)),
    (server) => {
      server.enqueue(...behaviours)
      const model = { ...way.model, baseUrl: server.url + way.base, apiKeyEnv: "SOME_KEY", pricing }
      return use(server).pipe(
        Effect.provide(layer({ env: { SOME_KEY: key }, modelsFile: { models: [model] }, idleTimeoutMs: idleMs }))
      )
    },
    (server) => Effect.promise(() => server.stop())
  )

export const readName = "mcp:files/read file"

export const tools = [
  {
    name: "search",
    description: "Finds things",
    inputSchema: { type: "object", properties: { q: { type: "string" } } }
  },
  { name: readName, inputSchema: { type: "object" } }
]

export const assistant = (
  modelId: string,
  { text, calls, parts }: ModelReply,
  ids: ReadonlyArray<string>
): PromptMessage => ({
  role: "assistant",
  turnId,
  modelId,
  text,
  calls: calls.map(({ providerToolCallId, name, input }, index) => ({
    toolCallId: ids[index] ?? "",
    providerToolCallId,
    name,
    input
  })),
  // As it comes back out of the log.
  ...(parts === undefined ? {} : { parts: JSON.parse(JSON.stringify(parts)) })
})

export const resultOf = (
  reply: ModelReply,
  index: number,
  toolCallId: string,
  outcome: Partial<PromptMessage & { role: "tool" }>
): PromptMessage => ({
  role: "tool",
  turnId,
  toolCallId,
  providerToolCallId: reply.calls[index]?.providerToolCallId ?? "",
  name: reply.calls[index]?.name ?? "",
  output: undefined,
  ...outcome
})

export const twoCalls = (way: AskedWay): Behaviour => ({
  kind: "answer",
  answer: {
    ...(way.signs ? { reasoning: "Let me see." } : {}),
    text: ["I look."],
    calls: [
      { name: "search", input: { q: "a" } },
      { name: toProviderName(readName), input: {} }
    ]
  }
})
