/**
 * Conditions of subscriptions: CEL over one message of a feed (contract C40.4).
 *
 * K1. A condition that cannot be asked of a message (a field is not there, types do not fit) does not match it: one odd
 *     message must not stop a feed.
 * K2. What it costs is bounded before it is taken: bytes, nodes, no macro inside a macro, and patterns that are
 *     literals, run in linear time and have so many states.
 * K3. What may cost more than a moment for one message is judged in a thread that can be ended (ConditionJudge.ts).
 */
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js"
import { LRUCache } from "lru-cache"
import { RE2JS } from "re2js"
import { limits } from "../domain/limits.ts"
import type { Principal } from "../domain/principal.ts"

/** What a condition is asked of. `data` is JSON. */
export interface JudgedMessage {
  readonly text: string
  readonly tags: ReadonlyArray<string>
  readonly data?: unknown
  readonly principal: Principal
  readonly seq: number
  /** Milliseconds. */
  readonly appendedAt: number
}

export interface MessageCondition {
  readonly source: string
  /** K3. */
  readonly isCostly: boolean
  /** It asks for what only the feed knows: the message's seq, or when it was appended. */
  readonly needsPlace: boolean
  readonly judge: (message: JudgedMessage) => ConditionSays
}

/** `error`: why it could not be asked (K1). */
export interface ConditionSays {
  readonly matched: boolean
  readonly error?: string
}

/** Why a condition is none. `at`: characters from its beginning. */
export interface InvalidCondition {
  readonly invalid: string
  readonly at: number
}

const linear = "matchesInLinearTime"
const macros = new Set(["all", "exists", "exists_one", "map", "filter", "existsOne", "transformList", "transformMap"])
const binds = "bind"

/** Programs of patterns that conditions of this node use. */
const patterns = new LRUCache<string, RE2JS>({ max: 1_000 })
const patternOf = (source: string) => {
  const known = patterns.get(source)
  if (known !== undefined) return known
  if (repeatsIn(source) > limits.celPatternStates) throw new Error("it repeats too much")
  const made = RE2JS.compile(source)
  if (made.programSize() > limits.celPatternStates) throw new Error("it has too many states")
  patterns.set(source, made)
  return made
}

/** K2. Each is a state at least: what has too many of them is not even compiled. */
const repeatsIn = (source: string) =>
  [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (sum, [, least = "", most = ""]) => sum + Math.max(Number(least), Number(most)),
    0
  )

const environment = new Environment({ limits: { maxAstNodes: limits.celNodes } })
  .registerVariable("text", "string")
  .registerVariable("tags", "list<string>")
  .registerVariable("data", "dyn")
  .registerVariable("principal", "map<string, dyn>")
  .registerVariable("seq", "int")
  .registerVariable("appendedAt", "google.protobuf.Timestamp")
  .registerFunction(`string.${linear}(string): bool`, (text: string, source: string) => patternOf(source).test(text))

class Refusal extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === "object" && value !== null && "op" in value && "args" in value && "pos" in value

/** All nodes below, whatever they hold them in. */
const within = (args: unknown): ReadonlyArray<ASTNode> =>
  isNode(args) ? [args] : Array.isArray(args) ? args.flatMap(within) : []

/** K2. */
const refuse = (node: ASTNode, inMacro: boolean): void => {
  if (node.op !== "rcall") {
    for (const inner of within(node.args)) refuse(inner, inMacro)
    return
  }
  const [name, receiver, given] = node.args
  const isMacro = macros.has(name) && given.length > 1
  if (name === linear) throw new Refusal(`there is no function ${linear}`, node.start)
  if (name === "matches") refusePattern(given, node.start)
  if (name === binds) throw new Refusal("cel.bind is not taken", node.start)
  if (isMacro && inMacro) throw new Refusal("a macro inside a macro is not taken", node.start)
  refuse(receiver, inMacro)
  for (const inner of given) refuse(inner, inMacro || isMacro)
}

const refusePattern = (given: ReadonlyArray<ASTNode>, at: number) => {
  const [pattern] = given
  if (pattern?.op !== "value" || typeof pattern.args !== "string")
    throw new Refusal("matches takes a pattern that is written out", pattern?.start ?? at)
  try {
    patternOf(pattern.args)
  } catch {
    throw new Refusal(
      `matches takes a pattern that RE2 knows, of at most ${limits.celPatternStates} states`,
      pattern.start
    )
  }
}

const callsOf = (node: ASTNode): ReadonlyArray<ASTNode> => [
  ...(node.op === "rcall" && node.args[0] === "matches" ? [node] : []),
  ...within(node.args).flatMap(callsOf)
]

const idsOf = (node: ASTNode): ReadonlyArray<string> =>
  node.op === "id" ? [node.args] : within(node.args).flatMap(idsOf)

/** Nanoseconds, of one message at its largest. */
const nodeNs = 50
const textNs = 150_000
const costlyNs = 5_000_000
/** What 8 KiB of JSON can hold. */
const mostElements = limits.feedDataBytes / 2

/** What a node may cost, foreseen from above: whatever looks at the text may read all of it. */
const costOf = (node: ASTNode): number => {
  const inner = within(node.args)
  const below = inner.reduce((sum, one) => sum + costOf(one), 0)
  const own = node.op !== "id" && inner.some((one) => one.op === "id" && one.args === "text") ? textNs : nodeNs
  if (node.op !== "rcall") return own + below
  const [name, receiver] = node.args
  if (name === "matches") return Number.POSITIVE_INFINITY
  if (!macros.has(name)) return own + below
  const elements = receiver?.op === "id" && receiver.args === "tags" ? limits.feedTags : mostElements
  return own + below * elements
}

/** The engine's own `matches` runs in exponential time and cannot be replaced: its calls go to another function. */
const inLinearTime = (source: string, ast: ASTNode) => {
  let text = source
  const names = callsOf(ast).flatMap((node) => {
    const receiver = node.op === "rcall" ? node.args[1] : undefined
    return receiver === undefined ? [] : [source.indexOf("matches", receiver.range.end)]
  })
  for (const at of names.sort((a, b) => b - a)) text = text.slice(0, at) + linear + text.slice(at + "matches".length)
  return text
}

/**
 * The engine tells a map by its `constructor`, which is a key like any other in what somebody has sent: such an object
 * is handed to it as a Map.
 */
const readable = (json: unknown): unknown => {
  if (typeof json !== "object" || json === null) return json
  if (Array.isArray(json)) return json.map(readable)
  const entries = Object.entries(json).map(([key, value]) => [key, readable(value)] as const)
  return Object.hasOwn(json, "constructor") ? new Map(entries) : Object.fromEntries(entries)
}

/** Each message is judged by many. */
const readableOnes = new WeakMap<object, unknown>()
const readableData = (data: unknown) => {
  if (typeof data !== "object" || data === null) return data ?? null
  const known = readableOnes.get(data)
  if (known !== undefined) return known
  const made = readable(data)
  readableOnes.set(data, made)
  return made
}

const reasonOf = (cause: unknown) => {
  const text = cause instanceof Error ? cause.message : String(cause)
  // It may quote a part of the condition, and half a character.
  return (text.split("\n", 1)[0] ?? "").slice(0, 300).replace(/[\p{Cc}\p{Cs}]/gu, "\ufffd")
}

const compile = (source: string): MessageCondition | InvalidCondition => {
  try {
    const { ast, check } = environment.parse(source)
    refuse(ast, false)
    const checked = check()
    if (!checked.valid)
      return { invalid: reasonOf(checked.error), at: checked.error?.range?.start ?? checked.error?.node?.pos ?? 0 }
    if (checked.type !== "bool" && checked.type !== "dyn")
      return { invalid: `it has to be a bool, not ${checked.type}`, at: 0 }
    const run = environment.parse(inLinearTime(source, ast))
    if (callsOf(run.ast).length > 0) throw new Refusal("matches has to follow what it is asked of", 0)
    const ids = idsOf(ast)
    const judge = ({ appendedAt, data, principal, seq, tags, text }: JudgedMessage) => {
      try {
        const said: unknown = run({
          text,
          tags,
          data: readableData(data),
          principal,
          seq: BigInt(seq),
          appendedAt: new Date(appendedAt)
        })
        return typeof said === "boolean"
          ? { matched: said }
          : { matched: false, error: "it is no bool for this message" }
      } catch (cause) {
        return { matched: false, error: reasonOf(cause) }
      }
    }
    return {
      source,
      isCostly: costOf(ast) > costlyNs,
      needsPlace: ids.includes("seq") || ids.includes("appendedAt"),
      judge
    }
  } catch (cause) {
    if (cause instanceof Refusal) return { invalid: cause.message, at: cause.at }
    if (cause instanceof ParseError) return { invalid: reasonOf(cause), at: cause.range?.start ?? cause.node?.pos ?? 0 }
    return { invalid: reasonOf(cause), at: 0 }
  }
}

const always: MessageCondition = { source: "", isCostly: false, needsPlace: false, judge: () => ({ matched: true }) }

const compiled = new LRUCache<string, MessageCondition | InvalidCondition>({ max: 2_000 })

/** Empty: every message matches. */
export const conditionOf = (source: string | undefined): MessageCondition | InvalidCondition => {
  if (source === undefined || source.trim() === "") return always
  const known = compiled.get(source)
  if (known !== undefined) return known
  const made = compile(source)
  compiled.set(source, made)
  return made
}

export const isInvalid = (condition: MessageCondition | InvalidCondition): condition is InvalidCondition =>
  "invalid" in condition

/** Of what was taken before: one that is none any more matches nothing. */
export const takenCondition = (source: string | undefined): MessageCondition => {
  const condition = conditionOf(source)
  return isInvalid(condition)
    ? { source: "", isCostly: false, needsPlace: false, judge: () => ({ matched: false, error: condition.invalid }) }
    : condition
}
