/**
 * What of a response must go back verbatim: reasoning with its signatures, and the provider's marks on text and calls.
 *
 * P1. Parts go back only to the provider that made them; for another one they are dropped.
 * P2. Text and calls are not kept twice: a text part knows its length, a call part its id, and the log has the rest.
 *     Where the log disagrees (a text was cut, a call was rewritten or dropped), the log wins.
 */
import type { LanguageModelV4Message, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider"
import { Option, Schema } from "effect"
import type { PromptMessage } from "./Model.ts"

type AssistantMessage = PromptMessage & { readonly role: "assistant" }
export type AssistantContent = (LanguageModelV4Message & { role: "assistant" })["content"]
type Call = AssistantMessage["calls"][number]

const Meta = Schema.optionalKey(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.MutableJson)))

const Part = Schema.Union([
  Schema.Struct({ type: Schema.Literal("reasoning"), text: Schema.String, meta: Meta }),
  Schema.Struct({ type: Schema.Literal("text"), length: Schema.Int, meta: Meta }),
  Schema.Struct({ type: Schema.Literal("call"), id: Schema.String, meta: Meta })
])

const Parts = Schema.Struct({ provider: Schema.String, content: Schema.Array(Part) })
const decodeParts = Schema.decodeUnknownOption(Parts)

const noParts: ReadonlyArray<typeof Part.Type> = []
/** A long thread's messages are the same objects from sample to sample: each is read once. */
const decoded = new WeakMap<AssistantMessage, typeof Parts.Type | undefined>()

/** P1. What cannot be read is dropped: a conversation without its reasoning is better than none. */
const partsFor = (message: AssistantMessage, provider: string) => {
  if (message.parts === undefined) return noParts
  if (!decoded.has(message)) decoded.set(message, Option.getOrUndefined(decodeParts(message.parts)))
  const kept = decoded.get(message)
  return kept?.provider === provider ? kept.content : noParts
}

/**
 * One piece of a response as it streamed in. Metadata that comes later replaces what came before, as the packages mean
 * it.
 */
interface Piece {
  readonly type: "reasoning" | "text" | "call"
  readonly id: string
  text: string
  meta?: SharedV4ProviderMetadata
}

/** Collects the pieces of one response, in the order in which they began. */
export const makeCollector = () => {
  const pieces: Array<Piece> = []
  const open = new Map<string, Piece>()

  const at = (type: "reasoning" | "text", id: string): Piece => {
    const known = open.get(type + id)
    if (known !== undefined) return known
    const piece: Piece = { type, id, text: "" }
    pieces.push(piece)
    open.set(type + id, piece)
    return piece
  }

  const mark = (piece: Piece, meta: SharedV4ProviderMetadata | undefined) => {
    if (meta !== undefined) piece.meta = meta
  }

  return {
    take(part: LanguageModelV4StreamPart) {
      switch (part.type) {
        case "text-start":
        case "text-delta":
        case "text-end":
        case "reasoning-start":
        case "reasoning-delta":
        case "reasoning-end": {
          const type = part.type.startsWith("text") ? "text" : "reasoning"
          const piece = at(type, part.id)
          if ("delta" in part) piece.text += part.delta
          mark(piece, part.providerMetadata)
          if (part.type.endsWith("-end")) open.delete(type + part.id)
          return
        }
        case "tool-call": {
          const piece: Piece = { type: "call", id: part.toolCallId, text: "" }
          pieces.push(piece)
          mark(piece, part.providerMetadata)
          return
        }
      }
    },

    /** JSON to keep with the response; undefined where the text and the calls alone say it all. */
    parts(provider: string): unknown {
      if (!pieces.some(({ type, meta }) => type === "reasoning" || meta !== undefined)) return undefined
      const content = pieces.map(({ type, id, text, meta }) => ({
        type,
        ...(type === "reasoning" ? { text } : type === "text" ? { length: text.length } : { id }),
        ...(meta === undefined ? {} : { meta })
      }))
      // What goes into the log is what comes out of it: dates and undefined end here.
      const json: unknown = JSON.parse(JSON.stringify({ provider, content }))
      return json
    }
  }
}

export interface Wire {
  readonly toolName: (name: string) => string
  readonly callId: (call: Call) => string
}

const options = (meta: SharedV4ProviderMetadata | undefined) => (meta === undefined ? {} : { providerOptions: meta })

const callPart = (call: Call, wire: Wire, meta?: SharedV4ProviderMetadata): AssistantContent[number] => ({
  type: "tool-call",
  toolCallId: wire.callId(call),
  toolName: wire.toolName(call.name),
  input: call.input,
  ...options(meta)
})

/** An assistant's message as its provider wants it back (P1, P2). */
export const assistantContent = (message: AssistantMessage, provider: string, wire: Wire): AssistantContent => {
  const parts = partsFor(message, provider)
  const lengths = parts.reduce((sum, part) => (part.type === "text" ? sum + part.length : sum), 0)
  const content: AssistantContent = []
  const placed = new Set<Call>()
  const sameText = lengths === message.text.length
  let textAt = 0
  let textPlaced = false

  for (const part of parts) {
    if (part.type === "reasoning") {
      content.push({ type: "reasoning", text: part.text, ...options(part.meta) })
    } else if (part.type === "text") {
      const text = sameText ? message.text.slice(textAt, textAt + part.length) : textPlaced ? "" : message.text
      textAt += part.length
      textPlaced = true
      // An empty text may still carry a signature (Google).
      if (text !== "" || (part.meta !== undefined && sameText))
        content.push({ type: "text", text, ...options(part.meta) })
    } else {
      const call = message.calls.find((candidate) => candidate.providerToolCallId === part.id && !placed.has(candidate))
      if (call === undefined) continue
      placed.add(call)
      content.push(callPart(call, wire, part.meta))
    }
  }
  if (!textPlaced && message.text.trim() !== "") content.push({ type: "text", text: message.text })
  for (const call of message.calls) if (!placed.has(call)) content.push(callPart(call, wire))
  return content
}
