/** The ways to a real model: each provider package, and the protocol that it speaks. */
import { anthropicMessages } from "./anthropicMessages.ts"
import { chatCompletions } from "./chatCompletions.ts"
import { googleGenerate } from "./googleGenerate.ts"
import { openaiResponses } from "./openaiResponses.ts"
import { type Protocol, type ProviderServer, startServer } from "./server.ts"

export interface Way {
  readonly title: string
  readonly protocol: Protocol
  readonly base: string
  readonly id: string
  readonly more?: Readonly<Record<string, string>>
  /** Reasoning that the provider wants back. */
  readonly signs: boolean
}

export const ways: ReadonlyArray<Way> = [
  { title: "openai", protocol: openaiResponses, base: "/v1", id: "openai/gpt-5", signs: true },
  {
    title: "openai chat",
    protocol: chatCompletions,
    base: "/v1",
    id: "openai/gpt-4o",
    more: { api: "chat" },
    signs: false
  },
  { title: "anthropic", protocol: anthropicMessages, base: "/v1", id: "anthropic/claude-sonnet-4-5", signs: true },
  { title: "google", protocol: googleGenerate, base: "/v1beta", id: "google/gemini-3-pro-preview", signs: true },
  {
    title: "openai-compatible",
    protocol: chatCompletions,
    base: "/v1",
    id: "local/llama",
    more: { provider: "openai-compatible" },
    signs: true
  }
]

export interface Place extends ProviderServer {
  readonly modelId: string
}

/**
 * So many servers of each way, a model each, and as many again for tests that are tried again: no two runs of tests
 * meet. `idleTimeoutMs` is how long
 * one may be silent: longer than a loaded machine takes, where no test wants silence. `inputFormats`: of the images that
 * the models accept.
 */
export const startWays = async (places: number, idleTimeoutMs = 1_000, inputFormats: ReadonlyArray<string> = []) => {
  const models: Array<object> = []
  const started = new Map<string, ReadonlyArray<Place>>()
  for (const { base, id, more, protocol, title } of ways) {
    const own: Array<Place> = []
    for (let i = 0; i < 2 * places; i++) {
      const provider = await startServer(protocol)
      const modelId = `${id}.${i}`
      own.push({ ...provider, modelId })
      models.push({
        id: modelId,
        name: id.slice(id.indexOf("/") + 1),
        baseUrl: provider.url + base,
        apiKeyEnv: "SOME_KEY",
        inputFormats,
        ...more
      })
    }
    started.set(title, own)
  }
  const taken = new Map<string, number>()
  return {
    /** Settings of a node that knows them all. */
    settings: { env: { SOME_KEY: "test-key" }, modelsFile: { models }, idleTimeoutMs },
    /** One that nobody has taken. */
    next: (title: string): Place => {
      const index = taken.get(title) ?? 0
      taken.set(title, index + 1)
      const place = started.get(title)?.[index]
      if (place === undefined) throw new Error(`${title} has no place ${index}`)
      return place
    },
    stop: () => Promise.all([...started.values()].flat().map((provider) => provider.stop()))
  }
}
export type Ways = Awaited<ReturnType<typeof startWays>>
