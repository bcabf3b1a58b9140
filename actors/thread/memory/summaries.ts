/**
 * What a summary is asked of, and what it makes of a conversation. Pure.
 *
 * Y1. Whatever lies at or below the boundary gives way to one message in front; an earlier summary is part of what is
 *     summarised.
 * Y2. Messages of the running turn among it stand again behind the summary, as they were, and know what followed them.
 */
import type { Summary } from "../../../machines/thread/commands.ts"
import type { Compacted } from "../../../machines/thread/facts.ts"
import { cutToBytes, utf8Bytes } from "../../../src/domain/text.ts"
import type { PromptMessage } from "../../../src/models/Model.ts"
import { bytesOfMessage, tokensOf } from "../../../src/models/promptTokens.ts"

/** Of a tool's output, and of the text of its failure, a summary is told the beginning. */
const outputBytes = 4 * 1024

type UserMessage = Extract<PromptMessage, { readonly role: "user" }>

const covers = ({ at }: PromptMessage, pos: number) => at !== undefined && at.pos <= pos

const textOf = (output: unknown) => (typeof output === "string" ? output : (JSON.stringify(output) ?? ""))

const shortened = (text: string, bytes: number) => (utf8Bytes(text) <= bytes ? text : `${cutToBytes(text, bytes)}…`)

const shortenedJson = (value: unknown, bytes: number) =>
  utf8Bytes(textOf(value)) <= bytes ? value : shortened(textOf(value), bytes)

/** As a summary is told of it: of outputs and failures the beginning, of images the name. */
const toldTo = (message: PromptMessage, bytes: number): PromptMessage => {
  switch (message.role) {
    case "summary":
      return { ...message, text: shortened(message.text, bytes) }
    case "user":
      return {
        ...message,
        content: message.content.map((block) => ({
          type: "text",
          text: block.type === "text" ? shortened(block.text, bytes) : `[image ${block.imageId}]`
        }))
      }
    case "assistant": {
      // What goes back to the provider word for word belongs to the whole conversation.
      const { parts: _, ...kept } = message
      return {
        ...kept,
        text: shortened(message.text, bytes),
        calls: message.calls.map((call) => ({ ...call, input: shortenedJson(call.input, bytes) }))
      }
    }
    case "tool": {
      const { images: _, ...kept } = message
      const { failure, output } = message
      const most = Math.min(bytes, outputBytes)
      return {
        ...kept,
        output: shortenedJson(output, most),
        ...(failure === undefined ? {} : { failure: { ...failure, text: shortened(failure.text, most) } })
      }
    }
  }
}

/** Tokens that a message takes in the request for a summary. */
export const summarisedTokens = (message: PromptMessage): number => {
  const bytes = bytesOfMessage(message)
  return tokensOf(message.role === "tool" ? Math.min(bytes, outputBytes) : bytes)
}

/** What the summary up to a position is made of, in so many tokens: long texts are cut until it fits. */
export const toSummarise = (
  messages: ReadonlyArray<PromptMessage>,
  pos: number,
  room: number
): ReadonlyArray<PromptMessage> => {
  const covered = messages.filter((message) => covers(message, pos))
  for (let bytes = Infinity; ; bytes = bytes === Infinity ? 16 * 1024 : bytes / 2) {
    const fitting = covered.map((message) => toldTo(message, bytes))
    if (bytes < 64 || fitting.reduce((sum, message) => sum + summarisedTokens(message), 0) <= room) return fitting
  }
}

/** Messages of the running turn that a summary up to a position covers (Y2). */
export const standingAgain = (
  messages: ReadonlyArray<PromptMessage>,
  turnId: string,
  pos: number
): Summary["messages"] => {
  const standing: Array<Summary["messages"][number]> = []
  for (const message of messages) {
    if (message.turnId !== turnId || !covers(message, pos)) continue
    const last = standing.at(-1)
    if (message.role === "user")
      standing.push({
        n: message.n ?? 0,
        content: message.content,
        replaced: message.replaced ?? { responses: 0, calls: 0 }
      })
    else if (message.role === "assistant" && message.calls.length > 0 && last !== undefined) {
      const { calls, responses } = last.replaced
      standing[standing.length - 1] = {
        ...last,
        replaced: { responses: responses + 1, calls: calls + message.calls.length }
      }
    }
  }
  return standing
}

/** What no longer answers the prompt that was counted for it. */
const uncounted = (message: PromptMessage): PromptMessage => {
  if (message.role !== "assistant" || message.tokens === undefined) return message
  const { tokens: _, ...rest } = message
  return rest
}

/** A conversation after a summary was made of its beginning (Y1). */
export const summarised = (
  messages: ReadonlyArray<PromptMessage>,
  { event, turnId }: Pick<Compacted, "event" | "turnId">,
  { messages: standing, pos, summary }: Summary
): Array<PromptMessage> => {
  const at = { pos, seq: event.compaction.throughSeq }
  return [
    { role: "summary", turnId, text: summary, at },
    ...standing.map(({ content, n, replaced }): UserMessage => ({ role: "user", turnId, n, content, replaced, at })),
    ...messages.filter((message) => !covers(message, pos)).map(uncounted)
  ]
}
