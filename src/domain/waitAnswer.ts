/** What a client may answer to a wait (design, section 5). */
import { Schema } from "effect"
import { ContentBlock } from "./content.ts"
import { JsonValue } from "./jsonValue.ts"
import { limits } from "./limits.ts"
import { maxBytes, utf8Bytes } from "./text.ts"

/** The point of the wait decides which kinds of blocks, and how much text, it may hold. */
const Content = Schema.Array(ContentBlock).check(
  Schema.isMaxLength(limits.contentBlocks),
  Schema.makeFilter((content) => utf8Bytes(JSON.stringify(content)) <= limits.messageBytes || `at most ${limits.messageBytes} bytes of encoded JSON`)
)

/** `beside`: how many other properties an object with one of these has. */
const oneOf = (names: ReadonlyArray<string>, beside = 0) =>
  Schema.makeFilter<object>((value) => names.filter((name) => Object.hasOwn(value, name)).length === 1 || `exactly one of ${names.join(", ")}`, {
    toJsonSchema: () => ({ minProperties: beside + 1, maxProperties: beside + 1 })
  })

/** What takes the place of what is judged: the one field that fits the wait's point. */
export const WaitRewrite = Schema.Struct({
  toolInput: Schema.optionalKey(JsonValue),
  toolOutput: Schema.optionalKey(JsonValue),
  content: Schema.optionalKey(Content)
}).check(oneOf(["toolInput", "toolOutput", "content"])).annotate({ identifier: "WaitRewrite" })

interface Decided {
  readonly decision: "allow" | "deny"
  readonly rewrite?: object
  readonly scope?: "once" | "thread"
}

/** A deny stops what waits: there is nothing left to put in its place, and the next call is asked about again. */
const fits = Schema.makeFilter<Decided>(({ decision, rewrite, scope }) =>
  decision === "allow" ? true
    : rewrite !== undefined ? { path: ["rewrite"], issue: "must be left out of a deny" }
    : scope !== "thread" || { path: ["scope"], issue: "must be once, or left out, of a deny" })

const decision = {
  decision: Schema.Literals(["allow", "deny"]),
  /** For people; the log keeps it. */
  reason: Schema.optionalKey(Schema.String.check(maxBytes(limits.hookReasonBytes))),
  rewrite: Schema.optionalKey(WaitRewrite)
}
/** `thread`: neither this hook or grant asks again about this tool in this thread. `once` when absent. */
const scope = Schema.optionalKey(Schema.Literals(["once", "thread"]))

const result = {
  output: Schema.optionalKey(JsonValue),
  error: Schema.optionalKey(Schema.Struct({
    /** For machines: letters, digits, `_`, `.` and `-`. */
    code: Schema.String.check(Schema.isPattern(new RegExp(`^[A-Za-z0-9_.-]{1,${limits.toolErrorCodeChars}}$`, "u"), {
      expected: `1 to ${limits.toolErrorCodeChars} letters, digits, _, . and -`
    })),
    /** For the model. */
    message: Schema.String.check(Schema.isMinLength(1), maxBytes(limits.toolErrorBytes))
  }))
}
const outputOrError = ["output", "error"]

/** Body of the one endpoint for all waits. */
export const WaitResolution = Schema.Union([
  Schema.Struct({ type: Schema.Literal("decision"), ...decision, scope }).check(fits).annotate({ identifier: "WaitDecision" }),
  Schema.Struct({ type: Schema.Literal("tool_result"), ...result }).check(oneOf(outputOrError, 1)).annotate({ identifier: "WaitToolResult" })
]).annotate({ identifier: "WaitResolution" })
export type WaitResolution = typeof WaitResolution.Type

/** Where only decisions are taken, the type goes without saying. */
export const HookWaitDecision = Schema.Struct({ type: Schema.optionalKey(Schema.Literal("decision")), ...decision, scope }).check(fits)
  .annotate({ identifier: "HookWaitDecision" })
export type HookWaitDecision = typeof HookWaitDecision.Type

/** What an endpoint that was asked may say later: it speaks for its own delivery, and for no other. */
export const DeliveryDecision = Schema.Struct(decision).check(fits).annotate({ identifier: "DeliveryDecision" })
export type DeliveryDecision = typeof DeliveryDecision.Type

export const ToolCallResult = Schema.Struct(result).check(oneOf(outputOrError)).annotate({ identifier: "ToolCallResult" })
export type ToolCallResult = typeof ToolCallResult.Type

/** An answer, whichever endpoint it came through. */
export type WaitAnswer =
  | ({ readonly type: "decision" } & Omit<HookWaitDecision, "type">)
  | { readonly type: "tool_result"; readonly output: unknown }
  | { readonly type: "tool_result"; readonly error: NonNullable<ToolCallResult["error"]> }

export const decided = ({ type: _, ...said }: HookWaitDecision): WaitAnswer => ({ type: "decision", ...said })
export const returned = ({ error, output }: ToolCallResult): WaitAnswer =>
  error === undefined ? { type: "tool_result", output } : { type: "tool_result", error }
export const answerOf = (body: WaitResolution): WaitAnswer => body.type === "decision" ? decided(body) : returned(body)
