/**
 * A prompt in the words of the AI SDK's provider packages: a history that every provider accepts.
 *
 * C1. The results of a response's calls stand right after it, whatever was said meanwhile; a steer comes after them.
 * C2. Every call has a result (where none was recorded, a result that says so), and every result has a call.
 * C3. Ids of calls are unique in the conversation and made of characters that every provider takes.
 * C4. A summary is asked of words alone: calls and results are told as text. So no provider looks for their tools,
 *     their ids or the reasoning that came with them, of which a summary is not told.
 */
import {
  isJSONObject,
  isJSONValue,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt
} from "@ai-sdk/provider"
import type { ImageFormat } from "../domain/content.ts"
import type { Prompt, PromptMessage, ToolImage } from "./Model.ts"
import { assistantContent } from "./replyParts.ts"
import { toProviderName } from "./toolNames.ts"

type UserMessage = PromptMessage & { readonly role: "user" }
type AssistantMessage = PromptMessage & { readonly role: "assistant" }
type ToolMessage = PromptMessage & { readonly role: "tool" }
type ToolContent = (LanguageModelV4Message & { role: "tool" })["content"]
type ToolOutput = Extract<ToolContent[number], { type: "tool-result" }>["output"]

const summaryRequest =
  "Summarize this conversation so that work can go on from the summary alone: " +
  "goals, decisions, facts learned, results of tools that still matter, and what is left to do. Answer with the " +
  "summary only."

const summaryMessage = (text: string): LanguageModelV4Message => ({
  role: "user",
  content: [{ type: "text", text: `This conversation goes on from a summary of what came before:\n\n${text}` }]
})

const summaryRequestOf = ({ instructions }: Prompt) =>
  instructions === undefined ? summaryRequest : `${summaryRequest}\n\n${instructions}`

const userMessage = ({ content }: UserMessage, images: Prompt["images"]): LanguageModelV4Message => ({
  role: "user",
  content: content.map((block) => {
    if (block.type === "text") return { type: "text", text: block.text }
    const image = images?.get(block.imageId)
    return image === undefined
      ? { type: "text", text: `[image ${block.imageId}]` }
      : { type: "file", mediaType: `image/${image.format}`, data: { type: "data", data: image.bytes } }
  })
})

/** Which images a model is shown, and where. */
export interface ImageSight {
  readonly formats: ReadonlyArray<ImageFormat>
  /** A result may hold images; else they follow the results as somebody's words. */
  readonly inResults: boolean
}

const blind: ImageSight = { formats: [], inResults: false }

const filesOf = (images: ReadonlyArray<ToolImage>) =>
  images.map(({ data, format }) => ({
    type: "file" as const,
    mediaType: `image/${format}`,
    data: { type: "data" as const, data }
  }))

const seenIn = (result: ToolMessage | undefined, { formats }: ImageSight): ReadonlyArray<ToolImage> =>
  result?.images?.filter(({ format }) => formats.includes(format)) ?? []

/** With the images that the model can see; its text names them all. */
const withImages = (text: string, images: ReadonlyArray<ToolImage>): ToolOutput => ({
  type: "content",
  value: [{ type: "text", text }, ...filesOf(images)]
})

/** Images of results that could not stand in them. */
const imagesMessage = (images: ReadonlyArray<ToolImage>): LanguageModelV4Message => ({
  role: "user",
  content: [{ type: "text", text: "The images that the results above name:" }, ...filesOf(images)]
})

const outputOf = (result: ToolMessage | undefined, sight: ImageSight): ToolOutput => {
  if (result === undefined) return { type: "error-text", value: "no result: the call was given up" }
  if (result.failure !== undefined)
    return { type: "error-text", value: `${result.failure.code}: ${result.failure.text}` }
  const seen = seenIn(result, sight)
  if (sight.inResults && seen.length > 0)
    return withImages(typeof result.output === "string" ? result.output : JSON.stringify(result.output ?? null), seen)
  if (typeof result.output === "string") return { type: "text", value: result.output }
  return { type: "json", value: isJSONValue(result.output) ? result.output : null }
}

const wireId = /^[A-Za-z0-9_-]{1,64}$/

/** C3. A provider's own id comes first, so that its signed parts still match; ours is unique and always fits. */
const makeCallIds = () => {
  const used = new Set<string>()
  return (call: AssistantMessage["calls"][number]): string => {
    const own = call.providerToolCallId
    const id = wireId.test(own) && !used.has(own) ? own : call.toolCallId
    used.add(id)
    return id
  }
}

const asText = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** C4. */
const inWords = (message: PromptMessage): LanguageModelV4Prompt => {
  switch (message.role) {
    case "summary":
      return [summaryMessage(message.text)]
    case "user":
      return [userMessage(message, undefined)]
    case "assistant": {
      const calls = message.calls.map(({ input, name }) => `[It called ${name} with ${asText(input)}]`)
      const said = [message.text, ...calls].filter((words) => words.trim() !== "")
      return said.length === 0 ? [] : [{ role: "assistant", content: [{ type: "text", text: said.join("\n") }] }]
    }
    case "tool": {
      const { failure, name, output } = message
      const became =
        failure === undefined ? `${name} gave ${asText(output)}` : `${name} failed: ${failure.code}: ${failure.text}`
      return [{ role: "user", content: [{ type: "text", text: `[${became}]` }] }]
    }
  }
}

export const toConversation = (prompt: Prompt, provider: string, sight: ImageSight = blind): LanguageModelV4Prompt => {
  if (prompt.purpose === "summary")
    return [
      ...prompt.messages.flatMap(inWords),
      { role: "user", content: [{ type: "text", text: summaryRequestOf(prompt) }] }
    ]
  const results = new Map<string, ToolMessage>()
  for (const message of prompt.messages) if (message.role === "tool") results.set(message.toolCallId, message)
  const callIdOf = makeCallIds()
  const conversation: LanguageModelV4Prompt = []
  if (prompt.system !== undefined && prompt.system.trim() !== "")
    conversation.push({ role: "system", content: prompt.system })

  for (const message of prompt.messages) {
    if (message.role === "summary") conversation.push(summaryMessage(message.text))
    if (message.role === "user") conversation.push(userMessage(message, prompt.images))
    if (message.role !== "assistant") continue
    const ids = new Map(message.calls.map((call) => [call, callIdOf(call)]))
    const callId = (call: AssistantMessage["calls"][number]) => ids.get(call) ?? call.toolCallId
    const content = assistantContent(message, provider, { toolName: toProviderName, callId })
    if (content.length === 0) continue
    conversation.push({ role: "assistant", content })
    if (message.calls.length === 0) continue
    conversation.push({
      role: "tool",
      content: message.calls.map((call): ToolContent[number] => ({
        type: "tool-result",
        toolCallId: callId(call),
        toolName: toProviderName(call.name),
        output: outputOf(results.get(call.toolCallId), sight)
      }))
    })
    const beside = sight.inResults ? [] : message.calls.flatMap((call) => seenIn(results.get(call.toolCallId), sight))
    if (beside.length > 0) conversation.push(imagesMessage(beside))
  }
  return conversation
}

type InputSchema = LanguageModelV4FunctionTool["inputSchema"]
const isSchema = (value: unknown): value is InputSchema & Readonly<Record<string, unknown>> => isJSONObject(value)
const anyInput: InputSchema = { type: "object", properties: {} }

/** OpenAI and Anthropic take none of these at the top of a schema. */
const choices = new Set(["allOf", "anyOf", "oneOf", "not", "enum"])

const branchesOf = (schema: Readonly<Record<string, unknown>>) =>
  ["allOf", "anyOf", "oneOf"].flatMap((word) => (Array.isArray(schema[word]) ? schema[word].filter(isSchema) : []))

/**
 * A tool's schema as every provider takes it: of an object, with its properties, without choices at the top. It may say
 * less than the tool's own; each call is held against that one.
 */
const wireSchema = (schema: unknown): InputSchema => {
  if (!isSchema(schema)) return anyInput
  const plain = Object.fromEntries(Object.entries(schema).filter(([word]) => !choices.has(word)))
  const properties = [...branchesOf(schema), schema].flatMap(({ properties }) =>
    isJSONObject(properties) ? Object.entries(properties) : []
  )
  return { ...plain, type: "object", properties: Object.fromEntries(properties) }
}

/**
 * The prompt's tools. Where a turn has none, those that the history still names: providers refuse a history with calls
 * beside an empty list of tools.
 */
export const toTools = (prompt: Prompt): Array<LanguageModelV4FunctionTool> => {
  const tools = prompt.tools.map(
    ({ name, description, inputSchema }): LanguageModelV4FunctionTool => ({
      type: "function",
      name: toProviderName(name),
      ...(description === undefined ? {} : { description }),
      inputSchema: wireSchema(inputSchema)
    })
  )
  if (tools.length > 0 || prompt.purpose === "summary") return tools
  const gone = new Set<string>()
  for (const message of prompt.messages)
    if (message.role === "assistant") for (const call of message.calls) gone.add(toProviderName(call.name))
  return [...gone].map((name) => ({
    type: "function",
    name,
    description: "Not available any more: do not call it.",
    inputSchema: anyInput
  }))
}
