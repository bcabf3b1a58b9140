/**
 * The conversation of a thread as a model reads it, from the facts.
 *
 * M1. A prompt is a pure fold of a thread's facts, so a kept one is always a true beginning: after a
 *     commit it grows by the facts, after a reload by those it has not seen.
 * M2. Kept prompts stay below a cap of bytes a node; the least recently used go first, and for no other reason:
 *     whoever thinks for an hour finds their thread's prompt still warm.
 * M3. A retried turn is left out, as far as no summary covers it.
 * M4. The memory of model calls under way, images with it, has a cap of its own: who finds no room waits, and
 *     holds nothing meanwhile.
 * M5. A summary takes the place of what it covers (`summaries.ts`): a prompt that is not kept is read from there on.
 */
import { Effect } from "effect"
import type { MessageContent } from "../../../src/domain/content.ts"
import type { ActorRef, JournalUnavailable, Log, LoggedFact } from "../../../src/journal/Journal.ts"
import type { LogPlace, PromptMessage } from "../../../src/models/Model.ts"
import type { ResponseDetail } from "../../../machines/thread/facts.ts"
import { flatMapNow, isDone, mapNow } from "../../../src/now.ts"
import { imagesOf } from "../../../src/tools/images.ts"
import { readingOf } from "../../../src/tools/reading.ts"
import { MemoryRoom } from "../room.ts"
import { summarised } from "./summaries.ts"
import { type LoggedFactBody, loggedFactBody } from "../replies/rows.ts"
import type { Context } from "../../../machines/thread/context.ts"
import { isPublic, typesOf } from "../../../machines/thread/facts.ts"

type Assistant = Extract<PromptMessage, { readonly role: "assistant" }>

/** A fact and its place in the log. */
type Placed = LoggedFactBody & { readonly pos: number; readonly seq: number | null }

interface Kept {
  /** Facts up to here are in. */
  pos: number
  bytes: number
  messages: Array<PromptMessage>
}

const from = (pos: number): Kept => ({ pos, bytes: perThread, messages: [] })

/** Of a public fact. */
const logPlaceOf = ({ pos, seq }: Placed): LogPlace => ({ pos, seq: seq ?? 0 })

const assistant = (
  fact: Placed & { readonly turnId: string; readonly event: { readonly modelId: string } },
  text: string,
  response: ResponseDetail | undefined,
  calls: Assistant["calls"]
): Assistant => ({
  role: "assistant",
  turnId: fact.turnId,
  at: logPlaceOf(fact),
  modelId: fact.event.modelId,
  text,
  calls,
  ...(response === undefined ? {} : { tokens: response.usage.inputTokens + response.usage.outputTokens }),
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
  messages.map((message) =>
    message.role === "user" && message.turnId === turnId && message.n === n ? { ...message, content } : message
  )

/** Those that `extend` reads. */
const inPrompts = typesOf(({ inPrompt }) => inPrompt === true)
const readTypes: ReadonlySet<string> = new Set(inPrompts)

const imagesBeside = (output: unknown, content: unknown) => {
  const images = imagesOf(output, content)
  return images.length === 0 ? {} : { images }
}

/** M3. A summary that was made in the turn stands for those before it. */
const withoutTurn = (messages: ReadonlyArray<PromptMessage>, turnId: string) =>
  messages.filter((message) => message.role === "summary" || message.turnId !== turnId)

/** Adds one fact to a conversation. */
export const extend = (messages: Array<PromptMessage>, fact: Placed): Array<PromptMessage> => {
  if (fact.turnId === null) return messages
  const { turnId } = fact
  switch (fact.type) {
    case "user_message": {
      const retried = fact.detail?.retryOf
      const kept = retried === undefined ? messages : withoutTurn(messages, retried)
      kept.push({ role: "user", turnId, at: logPlaceOf(fact), n: fact.n, content: fact.event.content })
      return kept
    }
    case "hook_decision":
    case "wait_resolved": {
      const { message: n, rewrite } = fact.detail ?? {}
      return rewrite?.content === undefined || n === undefined
        ? messages
        : rewritten(messages, turnId, n, rewrite.content)
    }
    case "assistant_message": {
      const text = fact.event.content.map((block) => (block.type === "text" ? block.text : "")).join("")
      messages.push(assistant(fact, text, fact.detail, []))
      return messages
    }
    case "tool_intent": {
      const { providerToolCallId, toolCallId, toolInput: input, toolName: name } = fact.event
      const call = { toolCallId, providerToolCallId, name, input }
      const last = messages.at(-1)
      // A new object, so that whoever counted the old one's tokens counts again.
      if (fact.detail.response === undefined && last?.role === "assistant")
        messages[messages.length - 1] = { ...last, calls: [...last.calls, call] }
      else messages.push(assistant(fact, "", fact.detail.response, [call]))
      return messages
    }
    case "tool_result": {
      const { failureCode: code, failureText: text = "", toolCallId, toolContent, toolOutput } = fact.event
      const { name, providerToolCallId } = callOf(messages, toolCallId)
      messages.push({
        role: "tool",
        turnId,
        at: logPlaceOf(fact),
        toolCallId,
        providerToolCallId,
        name,
        output: readingOf(toolOutput, toolContent),
        ...imagesBeside(toolOutput, toolContent),
        ...(code === undefined ? {} : { failure: { code, text } })
      })
      return messages
    }
    case "compacted":
      return fact.detail === undefined ? messages : summarised(messages, fact, fact.detail)
    default:
      return messages
  }
}

/** Bytes of a thread's entry, and of one more message in it, beside what the message says. */
const perThread = 250
const perMessage = 200
/** Of an object or an array, and of one of its properties. */
const perValue = 24

/**
 * Bytes that a value of JSON takes in memory, at most and within a small factor: a character is two of them as soon as
 * one of its text is not Latin.
 */
const weigh = (value: unknown): number => {
  if (typeof value === "string") return perValue + value.length * 2
  if (typeof value !== "object" || value === null) return 0
  let sum = perValue
  if (Array.isArray(value)) {
    for (const item of value) sum += perValue + weigh(item)
    return sum
  }
  for (const property of Object.values(value)) sum += perValue + weigh(property)
  return sum
}

/**
 * What a prompt keeps of a fact: what it says, and of its detail what goes back to the provider or stands in its place.
 */
const held = (fact: LoggedFactBody): number => {
  switch (fact.type) {
    case "user_message":
      return perMessage + weigh(fact.event.content)
    case "hook_decision":
    case "wait_resolved":
      return weigh(fact.detail?.rewrite?.content)
    case "assistant_message":
      return perMessage + weigh(fact.event.content) + weigh(fact.detail.parts)
    case "tool_intent":
      return perMessage + weigh(fact.event) + weigh(fact.detail.response?.parts)
    case "tool_result":
      return perMessage + weigh(fact.event)
    default:
      return 0
  }
}

const isSummary = (fact: Placed) => fact.type === "compacted" && fact.detail !== undefined

/** After a summary has taken the place of what it covers. */
const weighed = (messages: ReadonlyArray<PromptMessage>) =>
  messages.reduce((sum, message) => sum + perMessage + weigh(message), perThread)

const placed = (fact: LoggedFact): Placed => ({ ...loggedFactBody(fact), pos: fact.pos, seq: fact.seq })

/** Positions: what a summary covers lies at or below `from`. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** What a thread's prompt is read from. */
export const stretchOf = ({ carry, pos }: Pick<Context, "carry" | "pos">): Stretch => ({
  from: carry.compaction?.pos ?? 0,
  to: pos
})

export interface PromptLimits {
  /** Bytes of kept prompts. */
  readonly keptBytes: number
  /** Bytes that model calls under way hold together. */
  readonly underWayBytes: number
}

/** Part of the cap to which kept prompts shrink when they pass it. */
const roomy = 0.98

const nothing = Effect.succeed(0)

export class Prompts {
  /**
   * In a Map's order, the least recently used first: lru-cache would not keep the one in use where it alone is above
   * the cap, and it would be read twice for each call.
   */
  private readonly kept = new Map<string, Kept>()
  private bytes = 0
  private reads = 0
  private readonly keptBytes: number
  private readonly underWay: MemoryRoom
  private readonly read: (
    actor: ActorRef,
    afterPos: number,
    types: ReadonlyArray<string>
  ) => Effect.Effect<Log, JournalUnavailable>

  constructor({ keptBytes, underWayBytes }: PromptLimits, read: Prompts["read"]) {
    this.keptBytes = keptBytes
    this.underWay = new MemoryRoom(underWayBytes)
    this.read = read
  }

  /** Conversations that are being read. */
  get reading() {
    return this.reads
  }

  /** After a commit: `before` is the place before `facts`. A thread that is just born is kept from its first fact. */
  committed(threadId: string, before: LogPlace, facts: ReadonlyArray<LoggedFactBody>) {
    const kept = this.kept.get(threadId) ?? (before.pos === 0 ? from(0) : undefined)
    if (kept === undefined || kept.pos !== before.pos) return
    let { pos, seq } = before
    const read: Array<Placed> = []
    for (const fact of facts) {
      pos++
      if (isPublic(fact)) seq++
      if (readTypes.has(fact.type)) read.push({ ...fact, pos, seq: isPublic(fact) ? seq : null })
    }
    // Facts that no prompt reads only move the place up to which the kept one is true.
    if (read.length === 0 && (pos === 0 || this.kept.has(threadId))) kept.pos = pos
    else this.keep(threadId, kept, read, pos)
  }

  /** The conversation of a stretch of the log. What is not kept is one indexed read. */
  upTo(actor: ActorRef, stretch: Stretch): Effect.Effect<Array<PromptMessage>, JournalUnavailable> {
    return mapNow(this.known(actor, stretch), ({ messages }) => [...messages])
  }

  /**
   * Runs a model call with the conversation of a stretch, once there is room for it (M4). `reading` says what becomes
   * of a read that fails, `beside` how many bytes the call holds beside the conversation.
   */
  lend<A, E>(
    actor: ActorRef,
    stretch: Stretch,
    reading: <B>(read: Effect.Effect<B, JournalUnavailable>) => Effect.Effect<B>,
    use: (messages: ReadonlyArray<PromptMessage>) => Effect.Effect<A, E>,
    beside: (messages: ReadonlyArray<PromptMessage>) => Effect.Effect<number> = () => nothing
  ): Effect.Effect<A, E> {
    // Read to know its size, then let go: it may be forgotten until its turn comes.
    const size = flatMapNow(this.knownBy(reading, actor, stretch), ({ bytes, messages }) =>
      mapNow(beside(messages), (more) => bytes + more)
    )
    return flatMapNow(size, (bytes) =>
      this.underWay.within(
        bytes,
        Effect.suspend(() => flatMapNow(this.knownBy(reading, actor, stretch), ({ messages }) => use([...messages])))
      )
    )
  }

  /** A read that is tried again begins from what is kept by then: nothing is read before `reading` runs it. */
  private knownBy(
    reading: (read: Effect.Effect<Kept, JournalUnavailable>) => Effect.Effect<Kept>,
    actor: ActorRef,
    stretch: Stretch
  ): Effect.Effect<Kept> {
    const known = this.known(actor, stretch)
    return isDone(known) ? Effect.succeed(known.value) : reading(Effect.suspend(() => this.known(actor, stretch)))
  }

  private known(actor: ActorRef, stretch: Stretch): Effect.Effect<Kept, JournalUnavailable> {
    const kept = this.kept.get(actor.id) ?? from(stretch.from)
    const known = kept.pos
    if (known >= stretch.to) return Effect.succeed(kept)
    return Effect.flatMap(this.counted(this.read(actor, known, inPrompts)), ({ facts, pos: last = 0 }) => {
      // Somebody else has read the same meanwhile.
      if (kept.pos !== known) return this.known(actor, stretch)
      this.keep(actor.id, kept, facts.map(placed), Math.max(stretch.to, last))
      return Effect.succeed(kept)
    })
  }

  private counted<A, E>(read: Effect.Effect<A, E>) {
    const count = (by: number) =>
      Effect.sync(() => {
        this.reads += by
      })
    return Effect.acquireUseRelease(
      count(1),
      () => read,
      () => count(-1)
    )
  }

  private forget(threadId: string) {
    this.bytes -= this.kept.get(threadId)?.bytes ?? 0
    this.kept.delete(threadId)
  }

  private keep(threadId: string, kept: Kept, facts: ReadonlyArray<Placed>, pos: number) {
    // Where two have read the same at once, it is another one that is kept.
    this.forget(threadId)
    for (const fact of facts) {
      kept.messages = extend(kept.messages, fact)
      kept.bytes = isSummary(fact) ? weighed(kept.messages) : kept.bytes + held(fact)
    }
    kept.pos = pos
    this.bytes += kept.bytes
    this.kept.set(threadId, kept)
    if (this.bytes > this.keptBytes) this.makeRoom(threadId)
  }

  /**
   * Forgets a little more than is needed, so that it is needed rarely: a search for a Map's first entry passes over
   * the places of all entries that were removed before it.
   */
  private makeRoom(inUse: string) {
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.keptBytes * roomy || oldest === inUse) break
      this.forget(oldest)
    }
  }
}
