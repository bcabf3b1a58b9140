/**
 * The answers of hooks, as strangers send them: decoded strictly, or not taken at all.
 *
 * A1. A deny is a deny, whatever a rewrite beside it holds. Every other answer must fit its point in all
 *     its parts: half of one is no answer.
 * A2. A rewrite can take away and change, but not bring in images that were not there.
 */
import { Result, Schema } from "effect"
import { type MessageContent, TextBlock, UserContent } from "../domain/content.ts"
import type { HookData } from "../domain/hook.ts"
import { JsonValue } from "../domain/jsonValue.ts"
import { limits } from "../domain/limits.ts"
import { deeperThan, endOfNested } from "../domain/depth.ts"
import { problemsOf, sentence, wordsOf } from "../domain/problems.ts"
import { strictly } from "../domain/strict.ts"
import { maxBytes, utf8Bytes } from "../domain/text.ts"

export type HookRewrite =
  | { readonly toolInput: unknown }
  | { readonly toolOutput: unknown }
  | { readonly content: MessageContent }

export interface HookAnswer {
  readonly decision: "allow" | "deny" | "ask" | "defer"
  readonly reason?: string
  readonly rewrite?: HookRewrite
  /** Of an ask: the endpoint itself will answer it. */
  readonly answerBy?: "url"
}

const Reason = Schema.String.check(maxBytes(limits.hookReasonBytes))
const reason = Schema.optionalKey(Reason)

const assistantText = Schema.makeFilter<ReadonlyArray<typeof TextBlock.Type>>(
  (blocks) =>
    blocks.reduce((sum, { text }) => sum + utf8Bytes(text), 0) <= limits.assistantTextBytes ||
    `at most ${limits.assistantTextBytes} bytes of text in all`
)

/**
 * The answers of a point, by what may be put in the place of what is judged there. Made once: that is the larger part
 * of the work.
 */
const answers = (judged: Schema.Decoder<HookRewrite>) => {
  const rewrite = Schema.optionalKey(judged)
  return strictly(
    Schema.Union([
      Schema.Struct({ decision: Schema.Literal("allow"), reason, rewrite }),
      Schema.Struct({
        decision: Schema.Literal("ask"),
        reason,
        rewrite,
        answerBy: Schema.optionalKey(Schema.Literal("url"))
      }),
      Schema.Struct({ decision: Schema.Literal("defer"), reason })
    ])
  )
}

/** What may be put in the place of what is judged. */
const rewrites = {
  before_turn_start: Schema.Struct({ content: UserContent }),
  before_tool_call: Schema.Struct({ toolInput: JsonValue }),
  after_tool_result: Schema.Struct({ toolOutput: JsonValue }),
  after_model_response: Schema.Struct({
    content: Schema.Array(TextBlock).check(Schema.isMaxLength(limits.contentBlocks), assistantText)
  })
}
const decodeAt: {
  readonly [Point in HookData["point"]]: (json: unknown) => Result.Result<HookAnswer, Schema.SchemaError>
} = {
  before_turn_start: answers(rewrites.before_turn_start),
  before_tool_call: answers(rewrites.before_tool_call),
  after_tool_result: answers(rewrites.after_tool_result),
  after_model_response: answers(rewrites.after_model_response)
}
const takeAt: {
  readonly [Point in HookData["point"]]: (json: unknown) => Result.Result<HookRewrite, Schema.SchemaError>
} = {
  before_turn_start: strictly(rewrites.before_turn_start),
  before_tool_call: strictly(rewrites.before_tool_call),
  after_tool_result: strictly(rewrites.after_tool_result),
  after_model_response: strictly(rewrites.after_model_response)
}

const imagesOf = (content: MessageContent) =>
  content.flatMap((block) => (block.type === "image" ? [block.imageId] : []))

/** What only what was judged can tell of a rewrite: A2, and that only a response of calls can do without text. */
const strays = (data: HookData, rewrite: HookRewrite | undefined) => {
  if (rewrite === undefined || !("content" in rewrite) || !("content" in data)) return undefined
  const held = imagesOf(data.content)
  if (!imagesOf(rewrite.content).every((id) => held.includes(id))) return "brings in an image"
  return rewrite.content.length === 0 && data.content.length > 0 ? "takes all content away" : undefined
}

const Deny = Schema.Struct({ decision: Schema.Literal("deny"), reason, rewrite: Schema.optionalKey(Schema.Unknown) })
const isDeny = Schema.is(Schema.Struct({ decision: Schema.Literal("deny") }))
const decodeDeny = strictly(Deny)

/** No answer, and why: a sentence that follows "the answer". */
export class NotAnAnswer {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

const parse = (text: string): unknown => {
  if (deeperThan(text, limits.jsonDepth)) return new NotAnAnswer(`nests deeper than ${limits.jsonDepth} levels`)
  try {
    return JSON.parse(text)
  } catch {
    return new NotAnAnswer("is not JSON")
  }
}

/** Where and why: names of fields are the stranger's, so they are cut. */
const misfit = ({ issue }: Schema.SchemaError) =>
  new NotAnAnswer(`does not fit: ${wordsOf(issue, "the answer").slice(0, 300)}`)

/** What an endpoint has answered at this point. */
export const readAnswer = (data: HookData, text: string): HookAnswer | NotAnAnswer => {
  const json = parse(text)
  if (json instanceof NotAnAnswer) return json
  if (isDeny(json)) {
    return Result.match(decodeDeny(json), { onSuccess: ({ rewrite: _, ...deny }) => deny, onFailure: misfit })
  }
  return Result.match(decodeAt[data.point](json), {
    onSuccess: (answer): HookAnswer | NotAnAnswer => {
      const why = strays(data, answer.rewrite)
      return why === undefined ? answer : new NotAnAnswer(why)
    },
    onFailure: misfit
  })
}

/** What is wrong with a person's rewrite at this point, with its path: held to the same as an endpoint's. */
export const rewriteProblem = (data: HookData, rewrite: unknown): string | undefined =>
  Result.match(takeAt[data.point](rewrite), {
    onSuccess: (fit) => {
      const why = strays(data, fit)
      return why === undefined ? undefined : `rewrite.content: ${why}`
    },
    onFailure: ({ issue }) => sentence(problemsOf(issue, "rewrite"), "rewrite")
  })

const Review = Schema.Struct({ decision: Schema.Literals(["allow", "deny", "ask", "defer"]), reason })
const decodeReview = strictly(Review)

/**
 * What a reviewer has said in the end: the one JSON object of its text. A text with another one is not
 * taken: a reviewer that quotes what it was shown must not be made to decide by the quotation.
 */
export const readReview = (text: string): HookAnswer | NotAnAnswer => {
  const from = text.indexOf("{")
  const end = from === -1 ? -1 : endOfNested(text, from)
  if (end === -1) return new NotAnAnswer("holds no JSON object")
  if (text.includes("{", end)) return new NotAnAnswer("holds more than one JSON object")
  const json = parse(text.slice(from, end))
  return json instanceof NotAnAnswer
    ? json
    : Result.match(decodeReview(json), { onSuccess: (answer): HookAnswer | NotAnAnswer => answer, onFailure: misfit })
}
