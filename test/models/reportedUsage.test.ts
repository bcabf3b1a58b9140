import { describe, expect, it } from "vitest"
import type { ModelUsage } from "../../src/domain/usage.ts"
import { reportedUsage } from "../../src/models/reportedUsage.ts"

const told = (...chunks: ReadonlyArray<unknown>) => chunks.reduce<ModelUsage | undefined>(reportedUsage, undefined)

describe("what a provider tells of usage on the way", () => {
  it.each<[string, ReadonlyArray<unknown>, object]>([
    [
      "Anthropic, whose later chunks do not repeat the input",
      [
        {
          type: "message_start",
          message: {
            usage: { input_tokens: 7, cache_read_input_tokens: 10, cache_creation_input_tokens: 3, output_tokens: 1 }
          }
        },
        { type: "content_block_delta", delta: { text: "Hel" } },
        { type: "message_delta", usage: { output_tokens: 5 } }
      ],
      { inputTokens: 20, outputTokens: 5, totalTokens: 25, cacheReadTokens: 10, cacheWriteTokens: 3 }
    ],
    [
      "OpenAI's Responses, when they fail",
      [
        {
          type: "response.failed",
          response: {
            usage: {
              input_tokens: 20,
              input_tokens_details: { cached_tokens: 10 },
              output_tokens: 5,
              output_tokens_details: { reasoning_tokens: 2 }
            }
          }
        }
      ],
      { inputTokens: 20, outputTokens: 5, totalTokens: 25, cacheReadTokens: 10, reasoningTokens: 2 }
    ],
    [
      "chat completions, chunk by chunk",
      [
        { choices: [], usage: { prompt_tokens: 20, completion_tokens: 1 } },
        { choices: [], usage: null },
        {
          choices: [],
          usage: { prompt_tokens: 20, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } }
        }
      ],
      { inputTokens: 20, outputTokens: 5, totalTokens: 25, cacheReadTokens: 10 }
    ],
    [
      "Google, thoughts and all",
      [
        {
          usageMetadata: {
            promptTokenCount: 18,
            toolUsePromptTokenCount: 2,
            candidatesTokenCount: 3,
            thoughtsTokenCount: 2
          }
        }
      ],
      { inputTokens: 20, outputTokens: 5, totalTokens: 25, reasoningTokens: 2 }
    ]
  ])("is read as %s tells it", (_, chunks, expected) => {
    expect(told(...chunks)).toEqual(expected)
  })

  it.each<[unknown]>([[undefined], ["[DONE]"], [{ type: "ping" }], [{ usage: 5 }], [{ message: "boom" }]])(
    "is nothing in %j",
    (chunk) => {
      expect(told(chunk)).toBeUndefined()
    }
  )
})
