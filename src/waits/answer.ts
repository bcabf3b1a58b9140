/** What a client may answer to a wait. */
import { Schema } from "effect"
import { ContentBlock } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { JsonValue } from "../domain/jsonValue.ts"
import { is } from "../domain/jsonSchema.ts"
import { limits } from "../domain/limits.ts"
import { maxBytes, utf8Bytes } from "../domain/text.ts"

/** The point of the wait decides which kinds of blocks, and how much text, it may hold. */
const Content = Schema.Array(ContentBlock).check(
  Schema.isMaxLength(limits.contentBlocks),
  Schema.makeFilter(
    (content) =>
      utf8Bytes(JSON.stringify(content)) <= limits.messageBytes ||
      `at most ${limits.messageBytes} bytes of encoded JSON`,
    {
      toJsonSchema: () => [
        {
          description:
            `At most ${limits.messageBytes} bytes of encoded JSON. The point of the wait decides which blocks, and ` +
            "how much text, it may hold."
        },
        true
      ]
    }
  )
)

/** `beside`: how many other properties an object with one of these has. */
const oneOf = (names: ReadonlyArray<string>, beside = 0) =>
  Schema.makeFilter<object>(
    (value) => names.filter((name) => Object.hasOwn(value, name)).length === 1 || `exactly one of ${names.join(", ")}`,
    {
      toJsonSchema: () => ({ minProperties: beside + 1, maxProperties: beside + 1 })
    }
  )

/** What takes the place of what is judged: the one field that fits the wait's point. */
export const WaitRewrite = Schema.Struct({
  toolInput: described(Schema.optionalKey(JsonValue), "Input of the call from now on: at `before_tool_call`."),
  toolOutput: described(Schema.optionalKey(JsonValue), "Output of the call from now on: at `after_tool_result`."),
  content: described(
    Schema.optionalKey(Content),
    "Message or text from now on: at `before_turn_start` and `after_model_response`."
  )
})
  .check(oneOf(["toolInput", "toolOutput", "content"]))
  .annotate({ identifier: "WaitRewrite" })

interface Decided {
  readonly decision: "allow" | "deny"
  readonly rewrite?: object
  readonly scope?: "once" | "thread"
}

/** A deny stops what waits: there is nothing left to put in its place, and the next call is asked about again. */
const fits = (withScope: boolean) =>
  Schema.makeFilter<Decided>(
    ({ decision, rewrite, scope }) =>
      decision === "allow"
        ? true
        : rewrite !== undefined
          ? { path: ["rewrite"], issue: "must be left out of a deny" }
          : scope !== "thread" || { path: ["scope"], issue: "must be once, or left out, of a deny" },
    {
      toJsonSchema: () => ({
        dependentSchemas: {
          rewrite: is("decision", "allow"),
          ...(withScope && { scope: { if: is("scope", "thread"), then: is("decision", "allow") } })
        }
      })
    }
  )

const saysType = "Which kind of wait is answered."

const decision = {
  decision: described(Schema.Literals(["allow", "deny"]), "Whether what waits may go on."),
  reason: described(
    Schema.optionalKey(Schema.String.check(maxBytes(limits.hookReasonBytes))),
    "Why, in words for people. The log keeps it."
  ),
  rewrite: described(Schema.optionalKey(WaitRewrite), "Replacement of the content that waits. Only with an `allow`.")
}
/** `thread`: neither this hook or grant asks again about this tool in this thread. `once` when absent. */
const scope = described(
  Schema.optionalKey(Schema.Literals(["once", "thread"])),
  "How far an `allow` goes: for what waits, or for every call of this tool in this thread that the same hook or " +
    "grant asks about. `once` when absent."
)

const result = {
  output: described(Schema.optionalKey(JsonValue), "Output of the tool: instead of `error`."),
  error: described(
    Schema.optionalKey(
      Schema.Struct({
        code: described(
          Schema.String.check(
            Schema.isPattern(new RegExp(`^[A-Za-z0-9_.-]{1,${limits.toolErrorCodeChars}}$`, "u"), {
              expected: `1 to ${limits.toolErrorCodeChars} letters, digits, _, . and -`
            })
          ),
          "The problem as a code, for machines."
        ),
        message: described(
          Schema.String.check(Schema.isMinLength(1), maxBytes(limits.toolErrorBytes)),
          "The problem in words, for the model."
        )
      })
    ),
    "Why the call failed: instead of `output`."
  )
}
const outputOrError = ["output", "error"]

/** Body of the one endpoint for all waits. */
export const WaitResolution = Schema.Union([
  Schema.Struct({ type: described(Schema.Literal("decision"), saysType), ...decision, scope })
    .check(fits(true))
    .annotate({ identifier: "WaitDecision" }),
  Schema.Struct({ type: described(Schema.Literal("tool_result"), saysType), ...result })
    .check(oneOf(outputOrError, 1))
    .annotate({ identifier: "WaitToolResult" })
]).annotate({ identifier: "WaitResolution" })
export type WaitResolution = typeof WaitResolution.Type

/** Where only decisions are taken, the type goes without saying. */
export const HookWaitDecision = Schema.Struct({
  type: described(Schema.optionalKey(Schema.Literal("decision")), saysType),
  ...decision,
  scope
})
  .check(fits(true))
  .annotate({ identifier: "HookWaitDecision" })
export type HookWaitDecision = typeof HookWaitDecision.Type

/** What an endpoint that was asked may say later: it speaks for its own delivery, and for no other. */
export const DeliveryDecision = Schema.Struct(decision).check(fits(false)).annotate({ identifier: "DeliveryDecision" })
export type DeliveryDecision = typeof DeliveryDecision.Type

export const ToolCallResult = Schema.Struct(result)
  .check(oneOf(outputOrError))
  .annotate({ identifier: "ToolCallResult" })
export type ToolCallResult = typeof ToolCallResult.Type

/** An answer, whichever endpoint it came through. */
export type DecidedAnswer =
  | ({ readonly type: "decision" } & Omit<HookWaitDecision, "type">)
  | { readonly type: "tool_result"; readonly output: unknown }
  | { readonly type: "tool_result"; readonly error: NonNullable<ToolCallResult["error"]> }

export const decided = ({ type: _, ...said }: HookWaitDecision): DecidedAnswer => ({ type: "decision", ...said })
export const returned = ({ error, output }: ToolCallResult): DecidedAnswer =>
  error === undefined ? { type: "tool_result", output } : { type: "tool_result", error }
export const readWaitAnswer = (body: WaitResolution): DecidedAnswer =>
  body.type === "decision" ? decided(body) : returned(body)
