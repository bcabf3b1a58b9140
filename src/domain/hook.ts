/**
 * Hook: a question that a profile puts at one of four points of a turn, to an
 * endpoint, to another agent, or to a client.
 *
 * H1. A hook that guards fails closed: before something happens, a question without an answer is a deny,
 *     and a condition whose path leads nowhere matches. At points after something has happened the turn goes on in both
 *     cases, unless the hook says otherwise.
 */
import { Schema } from "effect"
import { outboundUrl } from "./url.ts"
import { besideFields } from "./beside.ts"
import { Conditions, holds } from "./condition.ts"
import { ContentBlock, MessageContent, SubmitMode } from "./content.ts"
import { described } from "./described.ts"
import { HookPoint } from "./event.ts"
import { idOf } from "./ids.ts"
import { has, is, part } from "./jsonSchema.ts"
import { limits } from "./limits.ts"
import { selects, ToolSelector } from "./selector.ts"
import { maxBytes } from "./text.ts"
import { ModelUsage } from "./usage.ts"
import { AgentId } from "./resourceIds.ts"
import { Name } from "./names.ts"

type Point = typeof HookPoint.Type

const saysPoint = "Where in the turn it is asked; tells the kinds of data apart."
const saysProcessor = "Who is asked: an endpoint, another agent, or a client."

const call = {
  toolCallId: described(Schema.String, "Id of the call."),
  toolName: described(Schema.String, "The tool that is called, as `namespace.tool`."),
  toolsetId: described(Schema.optionalKey(Schema.String), "Toolset of the tool. Absent for built-in tools."),
  toolInput: described(Schema.Unknown, "Input of the call, as the model gave it.")
}

/** What happens at each point: the `data` of a delivery, and what conditions and rewrites are about. */
export const dataOf = {
  before_turn_start: Schema.Struct({
    point: described(Schema.Literal("before_turn_start"), saysPoint),
    content: described(MessageContent, "The message that would begin the turn, or join it."),
    submitMode: described(SubmitMode, "How the message was submitted.")
  }),
  before_tool_call: Schema.Struct({ point: described(Schema.Literal("before_tool_call"), saysPoint), ...call }),
  after_tool_result: Schema.Struct({
    point: described(Schema.Literal("after_tool_result"), saysPoint),
    ...call,
    toolOutput: described(Schema.Unknown, "Output of the tool."),
    ...besideFields,
    failureCode: described(Schema.optionalKey(Schema.String), "Why the call failed. Absent when it did not.")
  }),
  after_model_response: Schema.Struct({
    point: described(Schema.Literal("after_model_response"), saysPoint),
    content: described(
      Schema.Array(ContentBlock).check(Schema.isMaxLength(limits.contentBlocks)),
      "The text of the response. Empty for a response of calls only."
    ),
    modelId: described(Schema.String, "Model that gave the response."),
    usage: described(ModelUsage, "Tokens and cost of the response.")
  })
} as const
export const HookData = Schema.Union(Object.values(dataOf)).annotate({ identifier: "HookData" })
export type HookData = typeof HookData.Type

export const HookProcessor = Schema.Union([
  Schema.Struct({
    type: described(Schema.Literal("url"), saysProcessor),
    url: described(outboundUrl({ query: true }), "Endpoint that deliveries are posted to. It may have a query."),
    connectionId: described(
      Schema.optionalKey(idOf("connection")),
      "Connection with the signing secret of the deliveries. Absent: they are not signed."
    )
  }),
  Schema.Struct({
    type: described(Schema.Literal("agent"), saysProcessor),
    agentId: described(AgentId, "Agent that judges, in a thread of its own."),
    instructions: described(
      Schema.optionalKey(Schema.String.check(maxBytes(limits.hookInstructionsBytes))),
      "Instructions for its judgement, in words for its model."
    )
  }),
  Schema.Struct({ type: described(Schema.Literal("client"), saysProcessor) })
]).annotate({ identifier: "HookProcessor" })
export type HookProcessor = typeof HookProcessor.Type

export const HookMatch = Schema.Struct({
  tools: described(
    Schema.optionalKey(
      Schema.Array(ToolSelector).check(Schema.isMinLength(1), Schema.isMaxLength(limits.hookSelectors))
    ),
    "Tools whose calls it is asked about: any of these. Only at the points of tools. Absent: every tool."
  ),
  conditions: described(
    Schema.optionalKey(Conditions),
    "Conditions that must all hold: of the tool's input at the points of tools, of `data` at the others. Absent: none."
  )
}).annotate({ identifier: "HookMatch" })

const milliseconds = (most: number) =>
  Schema.Int.check(Schema.isBetween({ minimum: limits.hookLeastMs, maximum: most }))

const fields = {
  name: described(Name, "The hook's name, for people."),
  point: described(HookPoint, "Where in a turn it is asked."),
  match: described(Schema.optionalKey(HookMatch), "When it is asked. Absent: always."),
  processor: described(HookProcessor, "Who is asked."),
  timeoutMs: described(
    Schema.optionalKey(
      milliseconds(limits.hookTimeoutMs.agent).annotate({
        description:
          `At most ${limits.hookTimeoutMs.url} for url and ${limits.hookTimeoutMs.agent} for agent, which are the ` +
          "defaults. A client is not waited for."
      })
    ),
    "How long the first answer may take, in milliseconds."
  ),
  asyncTimeoutMs: described(
    Schema.optionalKey(
      milliseconds(limits.hookAsyncTimeoutMs.most).annotate({
        description:
          `${limits.hookAsyncTimeoutMs.client} when absent for client, ${limits.hookAsyncTimeoutMs.other} for url ` +
          "and agent."
      })
    ),
    "How long an ask stays open, in milliseconds."
  ),
  onError: described(
    Schema.optionalKey(Schema.Literals(["deny", "ask", "allow"])),
    "Decision when no valid answer comes. `deny` before something happens, and `allow` after it, when absent."
  ),
  onTimeout: described(
    Schema.optionalKey(Schema.Literals(["deny", "allow", "fail"])),
    "Outcome of an ask that nobody answers in time. `deny` when absent; `fail` fails the turn."
  )
}

const isOfTools = (point: Point) => point === "before_tool_call" || point === "after_tool_result"

interface WriteSet {
  readonly point: Point
  readonly match?: typeof HookMatch.Type
  readonly processor: HookProcessor
  readonly timeoutMs?: number
}

/** What no single field shows. */
const fits = Schema.makeFilter<WriteSet>(
  ({ match, point, processor, timeoutMs }) => {
    if (match?.tools !== undefined && !isOfTools(point))
      return { path: ["match", "tools"], issue: `must be left out at ${point}: no tool is called there` }
    if (timeoutMs === undefined) return true
    if (processor.type === "client")
      return { path: ["timeoutMs"], issue: "must be left out for a client: it is not waited for" }
    const most = limits.hookTimeoutMs[processor.type]
    return timeoutMs <= most || { path: ["timeoutMs"], issue: `must be at most ${most} for ${processor.type}` }
  },
  {
    toJsonSchema: () => ({
      dependentSchemas: {
        match: {
          if: is("point", ...HookPoint.literals.filter((point) => !isOfTools(point))),
          then: part({ match: { not: has("tools") } })
        },
        timeoutMs: {
          if: part({ processor: is("type", "url") }),
          then: part({ timeoutMs: { maximum: limits.hookTimeoutMs.url } }),
          else: part({ processor: is("type", "agent") })
        }
      }
    })
  }
)

/**
 * What a client may say of a hook. One that has an id goes on as the hook that it was in the profile's latest version.
 */
export const HookInput = Schema.Struct({
  id: described(
    Schema.optionalKey(idOf("hook")),
    "The hook of the profile's latest version that this one goes on as. Absent: a new one."
  ),
  ...fields,
  enabled: described(Schema.optionalKey(Schema.Boolean), "Whether it is asked. True when absent.")
})
  .check(fits)
  .annotate({ identifier: "HookInput" })
export type HookInput = typeof HookInput.Type

/** As a version of a profile holds it. */
export const Hook = Schema.Struct({
  id: described(Schema.String, "Id of the hook: the same through all versions of its profile."),
  ...fields,
  enabled: described(Schema.Boolean, "Whether it is asked.")
}).annotate({ identifier: "Hook" })
export type Hook = typeof Hook.Type

export const hookOf = (input: HookInput, id: string): Hook => {
  const { enabled = true, id: _, ...rest } = input
  return { id, ...rest, enabled }
}

/** How long the first answer may take. */
export const timeoutOf = ({ processor, timeoutMs }: Hook) =>
  processor.type === "client" ? 0 : (timeoutMs ?? limits.hookTimeoutMs[processor.type])

/** How long an ask stays open. */
export const asyncTimeoutOf = ({ asyncTimeoutMs, processor }: Hook) =>
  asyncTimeoutMs ?? (processor.type === "client" ? limits.hookAsyncTimeoutMs.client : limits.hookAsyncTimeoutMs.other)

/** What a question without a valid answer comes to (H1). */
export const onErrorOf = ({ onError, point }: Hook) => onError ?? (point.startsWith("before_") ? "deny" : "allow")

export const onTimeoutOf = ({ onTimeout }: Hook) => onTimeout ?? "deny"

/** What the conditions of a point are about. */
const subjectOf = (data: HookData): unknown => {
  if ("toolInput" in data) return data.toolInput
  const { point: _, ...rest } = data
  return rest
}

const matches = ({ match, point }: Hook, data: HookData) => {
  if (match === undefined) return true
  const { conditions = [], tools } = match
  if (tools !== undefined && !("toolName" in data && tools.some((selector) => selects(selector, data.toolName))))
    return false
  if (conditions.length === 0) return true
  const subject = subjectOf(data)
  const found = conditions.map((condition) => holds(condition, subject))
  return !found.includes(false) && (!found.includes(undefined) || point.startsWith("before_"))
}

/** Places in the profile's list, from `from` on, of the enabled hooks that are to be asked at a point. */
export const matching = (hooks: ReadonlyArray<Hook>, point: Point, data: HookData, from = 0): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let index = from; index < hooks.length; index++) {
    const hook = hooks[index]!
    if (hook.enabled && hook.point === point && matches(hook, data)) found.push(index)
  }
  return found
}
