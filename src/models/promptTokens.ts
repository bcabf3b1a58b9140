/**
 * Counts a prompt as the scripted models do: one token is 4 bytes, rounded up.
 *
 * The bytes of a message are counted once per message object: prompts of a long thread share their messages
 * from sample to sample, so counting ten thousand of them again is ten thousand look-ups.
 */
import { utf8Bytes } from "../domain/text.ts"
import type { Prompt, PromptMessage, ToolDefinition } from "./Model.ts"

const counted = new WeakMap<object, number>()

const jsonBytes = (value: unknown) => {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? 0 : utf8Bytes(text)
}

const messageBytes = (message: PromptMessage): number => {
  switch (message.role) {
    case "summary":
      return utf8Bytes(message.text)
    case "user":
      return message.content.reduce(
        (sum, block) => sum + utf8Bytes(block.type === "text" ? block.text : block.imageId),
        0
      )
    case "assistant":
      return message.calls.reduce(
        (sum, call) => sum + utf8Bytes(call.name) + jsonBytes(call.input),
        utf8Bytes(message.text)
      )
    case "tool":
      return (
        jsonBytes(message.output) +
        (message.failure === undefined ? 0 : utf8Bytes(message.failure.code) + utf8Bytes(message.failure.text))
      )
  }
}

const toolBytes = (tool: ToolDefinition) =>
  utf8Bytes(tool.name) + utf8Bytes(tool.description ?? "") + jsonBytes(tool.inputSchema)

const once = <A extends object>(value: A, count: (value: A) => number): number => {
  const known = counted.get(value)
  if (known !== undefined) return known
  const bytes = count(value)
  counted.set(value, bytes)
  return bytes
}

export const tokensOf = (bytes: number) => Math.ceil(bytes / 4)

/** Bytes of one message as the scripted models count them. */
export const bytesOfMessage = (message: PromptMessage): number => once(message, messageBytes)

const imageTokens = 1_000

const imagesIn = (message: PromptMessage) => {
  switch (message.role) {
    case "user":
      return message.content.filter(({ type }) => type === "image").length
    case "tool":
      return message.images?.length ?? 0
    default:
      return 0
  }
}

/**
 * What a model will count of a prompt, before it is asked: what its provider counted at the last response, and 4 bytes
 * a token of what came since, a thousand tokens an image.
 */
export const estimatedTokens = ({ messages, system, tools }: Prompt): number => {
  let bytes = 0
  let tokens = 0
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!
    if (message.role === "assistant" && message.tokens !== undefined) return tokens + tokensOf(bytes) + message.tokens
    bytes += bytesOfMessage(message)
    tokens += imagesIn(message) * imageTokens
  }
  if (system !== undefined) bytes += utf8Bytes(system)
  for (const tool of tools) bytes += once(tool, toolBytes)
  return tokens + tokensOf(bytes)
}

export const promptTokens = (prompt: Prompt): number => {
  let bytes = prompt.system === undefined ? 0 : utf8Bytes(prompt.system)
  for (const tool of prompt.tools) bytes += once(tool, toolBytes)
  for (const message of prompt.messages) bytes += bytesOfMessage(message)
  return tokensOf(bytes)
}
