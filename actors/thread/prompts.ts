/**
 * The conversation of a thread as a model reads it, from the facts.
 *
 * P1. A prompt is a pure fold of a thread's facts, so a kept one is always a true beginning: after a
 *     commit it grows by the facts, after a reload by those it has not seen.
 * P2. Kept prompts stay below a cap of bytes a node; the least recently used go first.
 * P3. A retried turn is left out.
 */
import { Effect } from "effect"
import type { MessageContent } from "../../src/domain/content.ts"
import type { ActorRef, JournalUnavailable, Log } from "../../src/journal/Journal.ts"
import type { PromptMessage } from "../../src/models/Model.ts"
import type { ResponseDetail } from "../../machines/thread/facts.ts"
import { type Told, toldOf } from "./rows.ts"

type Assistant = Extract<PromptMessage, { readonly role: "assistant" }>

interface Kept {
  /** Facts up to here are in. */
  pos: number
  bytes: number
  messages: Array<PromptMessage>
}

const assistant = (fact: Told & { readonly event: { readonly modelId: string } }, text: string, response: ResponseDetail | undefined, calls: Assistant["calls"]): Assistant => ({
  role: "assistant", turnId: fact.turnId, modelId: fact.event.modelId, text, calls,
  ...(response?.parts === undefined ? {} : { parts: response.parts })
})

const callOf = (messages: ReadonlyArray<PromptMessage>, toolCallId: string) => {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!
    if (message.role !== "assistant") continue
    const call = message.calls.find((other) => other.toolCallId === toolCallId)
    if (call !== undefined) return call
  }
  throw new Error(`${toolCallId} has a result and no intent`)
}

/** A hook or a person has put other words in the place of a message: the model reads those. */
const rewritten = (messages: Array<PromptMessage>, turnId: string, n: number, content: MessageContent) =>
  messages.map((message) => message.role === "user" && message.turnId === turnId && message.n === n ? { ...message, content } : message)

/** Those that `extend` reads. */
const inPrompts: ReadonlyArray<Told["type"]> = ["user_message", "hook_decision", "wait_resolved", "assistant_message", "tool_intent", "tool_result"]

/** Adds one fact to a conversation. */
export const extend = (messages: Array<PromptMessage>, fact: Told): Array<PromptMessage> => {
  const { turnId } = fact
  switch (fact.type) {
    case "user_message": {
      const retried = fact.detail?.retryOf
      const kept = retried === undefined ? messages : messages.filter((message) => message.turnId !== retried)
      kept.push({ role: "user", turnId, n: fact.n, content: fact.event.content })
      return kept
    }
    case "hook_decision":
    case "wait_resolved": {
      const { message: n, rewrite } = fact.detail ?? {}
      return rewrite?.content === undefined || n === undefined ? messages : rewritten(messages, turnId, n, rewrite.content)
    }
    case "assistant_message": {
      const text = fact.event.content.map((block) => block.type === "text" ? block.text : "").join("")
      messages.push(assistant(fact, text, fact.detail, []))
      return messages
    }
    case "tool_intent": {
      const { providerToolCallId, toolCallId, toolInput: input, toolName: name } = fact.event
      const call = { toolCallId, providerToolCallId, name, input }
      const last = messages.at(-1)
      // A new object, so that whoever counted the old one's tokens counts again.
      if (fact.detail.response === undefined && last?.role === "assistant") messages[messages.length - 1] = { ...last, calls: [...last.calls, call] }
      else messages.push(assistant(fact, "", fact.detail.response, [call]))
      return messages
    }
    case "tool_result": {
      const { failureCode: code, failureText: text = "", toolCallId, toolOutput: output } = fact.event
      const { name, providerToolCallId } = callOf(messages, toolCallId)
      messages.push({
        role: "tool", turnId, toolCallId, providerToolCallId, name, output,
        ...(code === undefined ? {} : { failure: { code, text } })
      })
      return messages
    }
    default:
      return messages
  }
}

export class Prompts {
  private readonly kept = new Map<string, Kept>()
  private bytes = 0
  private readonly capBytes: number
  private readonly read: (actor: ActorRef, afterPos: number, types: ReadonlyArray<string>) => Effect.Effect<Log, JournalUnavailable>

  constructor(capBytes: number, read: Prompts["read"]) {
    this.capBytes = capBytes
    this.read = read
  }

  /** After a commit: `pos` is the position before `facts`. A thread that is just born is kept from its first fact. */
  committed(threadId: string, pos: number, facts: ReadonlyArray<Told>, bytes: number) {
    const kept = this.kept.get(threadId) ?? (pos === 0 ? { pos: 0, bytes: 0, messages: [] } : undefined)
    if (kept === undefined || kept.pos !== pos) return
    this.keep(threadId, kept, facts, bytes)
  }

  forget(threadId: string) {
    this.bytes -= this.kept.get(threadId)?.bytes ?? 0
    this.kept.delete(threadId)
  }

  /** The conversation up to `pos`. What is not kept is one indexed read. */
  upTo(actor: ActorRef, pos: number): Effect.Effect<Array<PromptMessage>, JournalUnavailable> {
    const kept: Kept = this.kept.get(actor.id) ?? { pos: 0, bytes: 0, messages: [] }
    if (kept.pos >= pos) return Effect.succeed([...kept.messages])
    return Effect.map(this.read(actor, kept.pos, inPrompts), ({ characters, facts, pos: last = 0 }) => {
      this.keep(actor.id, kept, facts.map(toldOf), characters, Math.max(pos, last))
      return [...kept.messages]
    })
  }

  private keep(threadId: string, kept: Kept, facts: ReadonlyArray<Told>, bytes: number, pos = kept.pos + facts.length) {
    for (const fact of facts) kept.messages = extend(kept.messages, fact)
    kept.pos = pos
    kept.bytes += bytes
    // Last in a Map's order is the most recently used.
    if (this.kept.delete(threadId)) this.bytes += bytes
    else this.bytes += kept.bytes
    this.kept.set(threadId, kept)
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.capBytes || oldest === threadId) break
      this.forget(oldest)
    }
  }
}
