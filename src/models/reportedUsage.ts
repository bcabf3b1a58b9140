/**
 * What a provider says of usage while it still answers. The packages of the AI SDK tell it with the end of a response;
 * of one that breaks off there is none, though it is paid for as far as it came.
 */
import { isJSONObject } from "@ai-sdk/provider"
import type { ModelUsage } from "../domain/usage.ts"

type Fields = Readonly<Record<string, unknown>>

const objectAt = (value: Fields, key: string): Fields | undefined => {
  const found = value[key]
  return isJSONObject(found) ? found : undefined
}

const countAt = (value: Fields | undefined, key: string): number | undefined => {
  const found = value?.[key]
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : undefined
}

interface Counts {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly reasoning?: number | undefined
}

/** Anthropic counts cached tokens beside the others, OpenAI's Responses among them. */
const namedInputTokens = (usage: Fields): Counts => {
  const plain = countAt(usage, "input_tokens")
  const cacheRead = countAt(usage, "cache_read_input_tokens")
  const cacheWrite = countAt(usage, "cache_creation_input_tokens")
  return {
    input: plain === undefined ? undefined : plain + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output: countAt(usage, "output_tokens"),
    cacheRead: cacheRead ?? countAt(objectAt(usage, "input_tokens_details"), "cached_tokens"),
    cacheWrite,
    reasoning: countAt(objectAt(usage, "output_tokens_details"), "reasoning_tokens")
  }
}

const namedPromptTokens = (usage: Fields): Counts => ({
  input: countAt(usage, "prompt_tokens"),
  output: countAt(usage, "completion_tokens"),
  cacheRead: countAt(objectAt(usage, "prompt_tokens_details"), "cached_tokens"),
  reasoning: countAt(objectAt(usage, "completion_tokens_details"), "reasoning_tokens")
})

const namedPromptTokenCount = (usage: Fields): Counts => {
  const reasoning = countAt(usage, "thoughtsTokenCount")
  const prompt = countAt(usage, "promptTokenCount")
  return {
    input: prompt === undefined ? undefined : prompt + (countAt(usage, "toolUsePromptTokenCount") ?? 0),
    output: (countAt(usage, "candidatesTokenCount") ?? 0) + (reasoning ?? 0),
    cacheRead: countAt(usage, "cachedContentTokenCount"),
    reasoning
  }
}

const countsIn = (chunk: Fields): Counts | undefined => {
  const google = objectAt(chunk, "usageMetadata")
  if (google !== undefined) return namedPromptTokenCount(google)
  const usage =
    objectAt(chunk, "usage") ??
    objectAt(objectAt(chunk, "message") ?? {}, "usage") ??
    objectAt(objectAt(chunk, "response") ?? {}, "usage")
  if (usage === undefined) return undefined
  return "prompt_tokens" in usage ? namedPromptTokens(usage) : namedInputTokens(usage)
}

/**
 * What has been used as it was told before, and by one more chunk of the stream. What a later one does not repeat
 * stays.
 */
export const reportedUsage = (before: ModelUsage | undefined, chunk: unknown): ModelUsage | undefined => {
  const counts = isJSONObject(chunk) ? countsIn(chunk) : undefined
  if (counts === undefined) return before
  const {
    cacheRead = before?.cacheReadTokens,
    cacheWrite = before?.cacheWriteTokens,
    reasoning = before?.reasoningTokens
  } = counts
  const inputTokens = counts.input ?? before?.inputTokens ?? 0
  const outputTokens = counts.output ?? before?.outputTokens ?? 0
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(cacheRead === undefined ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning })
  }
}
