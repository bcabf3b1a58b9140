/**
 * Models of the three hosted providers, best first.
 *
 * Source: the ids that the provider packages know (their `*-model-catalog.ts`; the packages export them as types
 * only): general ones without a date in their name that stream text and call tools. A test holds every id against the
 * installed package. The packages know no windows and no prices: those come from the operator's file.
 */
import type { ImageFormat } from "../domain/content.ts"
import type { ProviderKind } from "./providers.ts"

export interface KnownModel {
  readonly name: string
  readonly displayName: string
  readonly maxOutputTokens?: number
  readonly reasoning: boolean
}

export interface KnownProvider {
  readonly kind: Exclude<ProviderKind, "openai-compatible">
  readonly apiKeyEnv: string
  readonly baseUrlEnv: string
  readonly inputFormats: ReadonlyArray<ImageFormat>
  readonly models: ReadonlyArray<KnownModel>
}

const gpt = (version: string, reasoning = true): KnownModel => ({
  name: `gpt-${version}`,
  displayName: `GPT-${version}`,
  reasoning
})
const o = (version: string): KnownModel => ({ name: version, displayName: version, reasoning: true })
const claude = (name: string, displayName: string, maxOutputTokens: number): KnownModel => ({
  name: `claude-${name}`,
  displayName: `Claude ${displayName}`,
  maxOutputTokens,
  reasoning: true
})
const gemini = (name: string, displayName: string, reasoning = true): KnownModel => ({
  name: `gemini-${name}`,
  displayName: `Gemini ${displayName}`,
  reasoning
})

export const knownProviders: ReadonlyArray<KnownProvider> = [
  {
    kind: "openai",
    apiKeyEnv: "OPENAI_API_KEY",
    baseUrlEnv: "OPENAI_BASE_URL",
    inputFormats: ["png", "jpeg", "gif", "webp"],
    models: [
      gpt("6.1-sol"),
      gpt("6.1-terra"),
      gpt("6-astra"),
      gpt("6-sol"),
      gpt("6-luna"),
      gpt("5.6"),
      gpt("5.6-sol"),
      gpt("5.6-terra"),
      gpt("5.6-luna"),
      gpt("5.5"),
      gpt("5.4"),
      gpt("5.4-pro"),
      gpt("5.4-mini"),
      gpt("5.4-nano"),
      gpt("5.3-codex"),
      gpt("5.2"),
      gpt("5.2-pro"),
      gpt("5.1"),
      gpt("5"),
      gpt("5-mini"),
      gpt("5-nano"),
      o("o3"),
      o("o4-mini"),
      gpt("4.1", false),
      gpt("4.1-mini", false),
      gpt("4.1-nano", false),
      gpt("4o", false),
      gpt("4o-mini", false)
    ]
  },
  {
    kind: "anthropic",
    apiKeyEnv: "ANTHROPIC_API_KEY",
    baseUrlEnv: "ANTHROPIC_BASE_URL",
    inputFormats: ["png", "jpeg", "gif", "webp"],
    models: [
      claude("opus-5-5", "Opus 5.5", 128_000),
      claude("sonnet-5-5", "Sonnet 5.5", 128_000),
      claude("haiku-5-5", "Haiku 5.5", 128_000),
      claude("fable-5-2", "Fable 5.2", 128_000),
      claude("fable-5-1", "Fable 5.1", 128_000),
      claude("opus-5", "Opus 5", 128_000),
      claude("sonnet-5", "Sonnet 5", 128_000),
      claude("fable-5", "Fable 5", 128_000),
      claude("opus-4-8", "Opus 4.8", 128_000),
      claude("opus-4-7", "Opus 4.7", 128_000),
      claude("opus-4-6", "Opus 4.6", 128_000),
      claude("sonnet-4-6", "Sonnet 4.6", 128_000),
      claude("opus-4-5", "Opus 4.5", 64_000),
      claude("sonnet-4-5", "Sonnet 4.5", 64_000),
      claude("haiku-4-5", "Haiku 4.5", 64_000),
      claude("opus-4-1", "Opus 4.1", 32_000),
      claude("sonnet-4-0", "Sonnet 4", 64_000),
      claude("opus-4-0", "Opus 4", 32_000)
    ]
  },
  {
    kind: "google",
    apiKeyEnv: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrlEnv: "GOOGLE_GENERATIVE_AI_BASE_URL",
    inputFormats: ["png", "jpeg", "webp"],
    models: [
      gemini("4-argon", "4 Argon"),
      gemini("4-carbon", "4 Carbon"),
      gemini("4-hydrogen", "4 Hydrogen"),
      gemini("3.8-flash", "3.8 Flash"),
      gemini("3.7-flash", "3.7 Flash"),
      gemini("3.6-flash", "3.6 Flash"),
      gemini("3.5-flash", "3.5 Flash"),
      gemini("3.5-flash-lite", "3.5 Flash-Lite"),
      gemini("3.1-pro-preview", "3.1 Pro Preview"),
      gemini("3-pro-preview", "3 Pro Preview"),
      gemini("3-flash-preview", "3 Flash Preview"),
      gemini("2.5-pro", "2.5 Pro"),
      gemini("2.5-flash", "2.5 Flash"),
      gemini("2.5-flash-lite", "2.5 Flash-Lite"),
      gemini("2.0-flash", "2.0 Flash", false)
    ]
  }
]
