/**
 * Hook (design, section 6): a question that a profile puts at one of four points of a turn, to an
 * endpoint, to another agent, or to a client.
 *
 * H1. A hook that guards fails closed: before something happens, a question without an answer is a deny,
 *     and a condition whose path leads nowhere matches. What has happened already goes on in both cases,
 *     unless the hook says otherwise.
 */
import { Schema } from "effect"
import { outboundUrl } from "../outbound/urls.ts"
import { AgentId, Name } from "./agent.ts"
import { Conditions, holds } from "./condition.ts"
import { ContentBlock, MessageContent, SubmitMode } from "./content.ts"
import { HookPoint } from "./event.ts"
import { idOf } from "./ids.ts"
import { limits } from "./limits.ts"
import { selects, ToolSelector } from "./selector.ts"
import { maxBytes } from "./text.ts"
import { ModelUsage } from "./usage.ts"

type Point = typeof HookPoint.Type

const call = { toolCallId: Schema.String, toolName: Schema.String, toolsetId: Schema.optionalKey(Schema.String), toolInput: Schema.Unknown }

/** What happens at each point: the `data` of a delivery, and what conditions and rewrites are about. */
export const dataOf = {
  before_turn_start: Schema.Struct({ point: Schema.Literal("before_turn_start"), content: MessageContent, submitMode: SubmitMode }),
  before_tool_call: Schema.Struct({ point: Schema.Literal("before_tool_call"), ...call }),
  after_tool_result: Schema.Struct({
    point: Schema.Literal("after_tool_result"),
    ...call,
    toolOutput: Schema.Unknown,
    failureCode: Schema.optionalKey(Schema.String)
  }),
  after_model_response: Schema.Struct({
    point: Schema.Literal("after_model_response"),
    /** Empty for a response of calls only. */
    content: Schema.Array(ContentBlock).check(Schema.isMaxLength(limits.contentBlocks)),
    modelId: Schema.String,
    usage: ModelUsage
  })
} as const
export const HookData = Schema.Union(Object.values(dataOf)).annotate({ identifier: "HookData" })
export type HookData = typeof HookData.Type

export const HookProcessor = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("url"),
    /** A query may stand in it: many endpoints are told apart by one. */
    url: outboundUrl({ query: true }),
    /** Holds the secret that deliveries are signed with; without one they are not signed. */
    connectionId: Schema.optionalKey(idOf("connection"))
  }),
  Schema.Struct({
    type: Schema.Literal("agent"),
    agentId: AgentId,
    instructions: Schema.optionalKey(Schema.String.check(maxBytes(limits.hookInstructionsBytes)))
  }),
  Schema.Struct({ type: Schema.Literal("client") })
]).annotate({ identifier: "HookProcessor" })
export type HookProcessor = typeof HookProcessor.Type

export const HookMatch = Schema.Struct({
  /** Any of them; only at the points of tools. */
  tools: Schema.optionalKey(Schema.Array(ToolSelector).check(Schema.isMinLength(1), Schema.isMaxLength(limits.hookSelectors))),
  /** All of them: of the tool's input, or of what the point tells. */
  conditions: Schema.optionalKey(Conditions)
}).annotate({ identifier: "HookMatch" })

const milliseconds = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: limits.hookLeastMs, maximum: most }))

const fields = {
  name: Name,
  point: HookPoint,
  match: Schema.optionalKey(HookMatch),
  processor: HookProcessor,
  /** How long the first answer may take: 30 s for url and 5 min for agent are default and maximum. A client is not waited for. */
  timeoutMs: Schema.optionalKey(milliseconds(limits.hookTimeoutMs.agent).annotate({
    description: `At most ${limits.hookTimeoutMs.url} for url and ${limits.hookTimeoutMs.agent} for agent, which are the defaults. A client is not waited for.`
  })),
  /** How long an ask stays open: 24 h for client, 1 h for url and agent. */
  asyncTimeoutMs: Schema.optionalKey(milliseconds(limits.hookAsyncTimeoutMs.most).annotate({
    description: `${limits.hookAsyncTimeoutMs.client} when absent for client, ${limits.hookAsyncTimeoutMs.other} for url and agent.`
  })),
  /** When no valid answer comes: deny before something happens, allow after it. */
  onError: Schema.optionalKey(Schema.Literals(["deny", "ask", "allow"])),
  /** When an ask expires: deny. */
  onTimeout: Schema.optionalKey(Schema.Literals(["deny", "allow", "fail"]))
}

const isOfTools = (point: Point) => point === "before_tool_call" || point === "after_tool_result"

interface Written {
  readonly point: Point
  readonly match?: typeof HookMatch.Type
  readonly processor: HookProcessor
  readonly timeoutMs?: number
}

/** What no single field shows. */
const fits = Schema.makeFilter<Written>(({ match, point, processor, timeoutMs }) => {
  if (match?.tools !== undefined && !isOfTools(point)) return { path: ["match", "tools"], issue: `must be left out at ${point}: no tool is called there` }
  if (timeoutMs === undefined) return true
  if (processor.type === "client") return { path: ["timeoutMs"], issue: "must be left out for a client: it is not waited for" }
  const most = limits.hookTimeoutMs[processor.type]
  return timeoutMs <= most || { path: ["timeoutMs"], issue: `must be at most ${most} for ${processor.type}` }
})

/** What a client may say of a hook. One that has an id goes on as the hook that it was in the profile's latest version. */
export const HookInput = Schema.Struct({
  id: Schema.optionalKey(idOf("hook")),
  ...fields,
  /** True when absent. */
  enabled: Schema.optionalKey(Schema.Boolean)
}).check(fits).annotate({ identifier: "HookInput" })
export type HookInput = typeof HookInput.Type

/** As a version of a profile holds it. */
export const Hook = Schema.Struct({ id: Schema.String, ...fields, enabled: Schema.Boolean }).annotate({ identifier: "Hook" })
export type Hook = typeof Hook.Type

export const hookOf = (input: HookInput, id: string): Hook => {
  const { enabled = true, id: _, ...rest } = input
  return { id, ...rest, enabled }
}

/** How long the first answer may take. */
export const timeoutOf = ({ processor, timeoutMs }: Hook) =>
  processor.type === "client" ? 0 : timeoutMs ?? limits.hookTimeoutMs[processor.type]

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
  if (tools !== undefined && !("toolName" in data && tools.some((selector) => selects(selector, data.toolName)))) return false
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
