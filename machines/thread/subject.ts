/** What a hook is told: of a message, a response, a call, or a call's result, each with a rewrite in its place. */
import { besideAs } from "../../src/domain/beside.ts"
import type { HookData } from "../../src/domain/hook.ts"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import type { Rewrite } from "./commands.ts"
import { type Call, type Returned, returnedOf, type Turn, withWord, wordOf } from "./context.ts"

type CallFields = Pick<Call, "input" | "name" | "toolCallId" | "toolsetId">

const aboutCall = ({ input, name, toolCallId, toolsetId }: CallFields) => ({
  toolCallId,
  toolName: name,
  ...(toolsetId === undefined ? {} : { toolsetId }),
  toolInput: input
})

type At<Point extends HookData["point"]> = Extract<HookData, { readonly point: Point }>

export const messageSubject = (message: {
  readonly content: MessageContent
  readonly submitMode: SubmitMode
}): At<"before_turn_start"> => ({
  point: "before_turn_start",
  content: message.content,
  submitMode: message.submitMode
})

/** A response without words has no content. */
export const contentOf = (text: string): MessageContent => (/\S/u.test(text) ? [{ type: "text", text }] : [])

export const responseSubject = (reply: {
  readonly text: string
  readonly modelId: string
  readonly usage: ModelUsage
}): At<"after_model_response"> => ({
  point: "after_model_response",
  content: contentOf(reply.text),
  modelId: reply.modelId,
  usage: reply.usage
})

export const callSubject = (call: CallFields): HookData => ({ point: "before_tool_call", ...aboutCall(call) })

/** A result as a person or a hook sees it, without its call. */
export const resultFields = (returned: Returned) => ({
  toolOutput: wordOf(returned),
  ...besideAs(returned.beside),
  ...(returned.failure === undefined ? {} : { failureCode: returned.failure.code })
})

export const resultSubject = (call: CallFields, returned: Returned): HookData => ({
  point: "after_tool_result",
  ...aboutCall(call),
  ...resultFields(returned)
})

/** What of a turn is under judgment, with the rewrite in its place. `toolCallId`: the call, or its result. */
export const subjectOf = (turn: Turn, toolCallId?: string, rewrite?: Rewrite): HookData | undefined => {
  if (toolCallId !== undefined) {
    const call = turn.calls.find((other) => other.toolCallId === toolCallId)
    if (call === undefined) return undefined
    const returned = returnedOf(call)
    if (returned === undefined)
      return callSubject(rewrite !== undefined && "toolInput" in rewrite ? { ...call, input: rewrite.toolInput } : call)
    return resultSubject(
      call,
      rewrite !== undefined && "toolOutput" in rewrite ? withWord(returned, rewrite.toolOutput) : returned
    )
  }
  const message = turn.opening?.messages[0]
  const content = rewrite?.content === undefined ? {} : { content: rewrite.content }
  if (message !== undefined) return { ...messageSubject(message), ...content }
  return turn.reviewing === undefined ? undefined : { ...responseSubject(turn.reviewing.reply), ...content }
}
