/**
 * The four ways to reach a real model, each through its package of the AI SDK. A package is loaded with the first
 * request to such a provider: no node needs all of them, and each is a megabyte for as long as the process lasts.
 */
import { providerUrls } from "../domain/providers.ts"
import type { ModelEntry } from "./Model.ts"
import type { RemoteModel } from "./remote.ts"
import { fetchWithinTokens } from "./thinkingTokens.ts"

export const providerKinds = ["openai", "anthropic", "google", "openai-compatible"] as const
export type ProviderKind = (typeof providerKinds)[number]

/** OpenAI's two endpoints. `responses` unless the catalogue says otherwise. */
export type OpenAIApi = "responses" | "chat"

/** Where a model is, and with what to ask for it. */
export interface ModelAccess {
  readonly kind: ProviderKind
  readonly api: OpenAIApi
  /** The part of the id before the slash. */
  readonly provider: string
  /** The model's name at the provider. */
  readonly name: string
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
}

// A base URL is always given: the packages would otherwise read the process's environment behind our back.
export const toRemote = (
  entry: ModelEntry,
  { kind, api, provider, name, apiKey = "", baseUrl }: ModelAccess
): RemoteModel => {
  switch (kind) {
    case "openai": {
      const settings = { apiKey, baseURL: baseUrl ?? providerUrls.openai }
      return {
        entry,
        partsOwner: `openai.${api}:${provider}`,
        // Nothing is kept at the provider: reasoning comes back encrypted, and goes back with the history.
        providerOptions: { openai: { store: false } },
        imagesInResults: api !== "chat",
        packageName: "@ai-sdk/openai",
        load: async () => {
          const { createOpenAI } = await import("@ai-sdk/openai")
          return (fetch) => {
            const made = createOpenAI({ ...settings, fetch })
            return api === "chat" ? made.chat(name) : made.responses(name)
          }
        }
      }
    }
    case "anthropic":
      return {
        entry,
        partsOwner: `anthropic:${provider}`,
        // A thread's prompt grows at its end: without the mark, all of it is paid in full at each sample.
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
        imagesInResults: true,
        packageName: "@ai-sdk/anthropic",
        load: async () => {
          const { createAnthropic } = await import("@ai-sdk/anthropic")
          return (fetch, maxOutputTokens) =>
            createAnthropic({
              apiKey,
              baseURL: baseUrl ?? providerUrls.anthropic,
              fetch: fetchWithinTokens(fetch, maxOutputTokens)
            })(name)
        }
      }
    case "google":
      return {
        entry,
        partsOwner: `google:${provider}`,
        providerOptions: {},
        imagesInResults: true,
        packageName: "@ai-sdk/google",
        load: async () => {
          const { createGoogle } = await import("@ai-sdk/google")
          return (fetch) => createGoogle({ apiKey, baseURL: baseUrl ?? providerUrls.google, fetch })(name)
        }
      }
    case "openai-compatible":
      return {
        entry,
        partsOwner: `openai-compatible:${provider}`,
        providerOptions: {},
        imagesInResults: false,
        packageName: "@ai-sdk/openai-compatible",
        load: async () => {
          const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
          return (fetch) =>
            createOpenAICompatible({
              // Metadata is filed under it, and names with dots or dashes would be filed elsewhere.
              name: "compatible",
              baseURL: baseUrl ?? "",
              includeUsage: true,
              fetch,
              ...(apiKey === "" ? {} : { apiKey })
            }).chatModel(name)
        }
      }
  }
}
