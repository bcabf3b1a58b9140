/**
 * A thread's file, read. Anybody may have written it: what pages need of a line is checked, and what does not fit is
 * refused with the number of its line.
 */
import type { LogEvent } from "../../../src/client/follow.ts"
import { fileType, fileVersion, type Step, type Thread } from "./format.ts"

export interface ThreadFile {
  readonly exportedAt: string
  readonly withoutContent: boolean
  readonly thread: Pick<Thread, "id" | "title">
  readonly chart: { readonly kind: string; readonly version: string }
  readonly events: ReadonlyArray<LogEvent>
  readonly steps: ReadonlyArray<Step>
}

/** `line` counts from 1. */
export class FileProblem extends Error {
  override readonly name = "FileProblem"
  constructor(line: number, why: string) {
    super(`Line ${line}: ${why}`)
  }
}

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const text: Check = (value) => typeof value === "string"
const number: Check = (value) => typeof value === "number" && Number.isFinite(value)
const place: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const time: Check = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value))
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const having =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isFields(value) && Object.entries(checks).every(([name, check]) => check(value[name]))

const principal = having({ type: text, id: text, identity: optional(text) })
const usage = having({ totalTokens: number, estimatedCost: optional(number) })
const content = listOf(having({ type: text, text: optional(text), imageId: optional(text) }))
const waitFields = { waitId: text, toolCallId: optional(text), toolName: optional(text) }
const compaction = having({ attempt: text, throughSeq: place })

const everyEvent = having({
  seq: place,
  eventId: text,
  threadId: text,
  turnId: text,
  type: text,
  occurredAt: time,
  toolCallId: optional(text),
  failureCode: optional(text),
  failureText: optional(text)
})

/** What pages read of each type; of types that come later they read what every event has. */
const checks: Readonly<Record<string, Check>> = {
  user_message: having({ content, principal, inputId: text, submitMode: text }),
  assistant_message: having({ content, modelId: text, finishReason: optional(text) }),
  tool_intent: having({ toolCallId: text, toolName: text, modelId: text }),
  tool_result: having({ toolCallId: text, timing: optional(having({ durationMs: number })) }),
  hook_decision: having({
    hook: having({ index: number, point: text, decision: text, latencyMs: number, reason: optional(text) })
  }),
  wait_created: having(waitFields),
  wait_resolved: having(waitFields),
  turn_completed: having({ usage }),
  turn_cancelled: having({ usage }),
  turn_failed: having({ usage, failureCode: text, failureText: text }),
  compacting: having({ compaction, modelId: text }),
  compacted: having({ compaction, modelId: text })
}

const isEvent = (value: unknown): value is LogEvent => {
  if (!isFields(value) || !everyEvent(value) || typeof value.type !== "string") return false
  const check = Object.hasOwn(checks, value.type) ? checks[value.type] : undefined
  return check === undefined || check(value)
}

const stepFields = having({
  pos: place,
  fromPos: place,
  at: time,
  cause: text,
  from: text,
  to: text,
  path: listOf(text),
  turnId: optional(text),
  fromSeq: optional(place),
  toSeq: optional(place),
  facts: listOf(having({ type: text, seq: optional(place) }))
})
const isStep = (value: unknown): value is Step => stepFields(value)

const words = (size: unknown) => `(${Number(size).toLocaleString("en")} bytes, left out of the file)`

/** Puts words into the fields that a file without content has left out, at any depth: pages show them. */
const refilled = (value: Fields): Fields => {
  const { sizes, ...rest } = value
  const left = Object.entries(rest).map(([name, field]): readonly [string, unknown] => [
    name,
    isFields(field) ? refilled(field) : field
  ])
  const filled = Object.entries(isFields(sizes) ? sizes : {}).map(([name, size]): readonly [string, unknown] => [
    name,
    name === "content" ? [{ type: "text", text: words(size) }] : words(size)
  ])
  return Object.fromEntries([...filled, ...left])
}

const objectOf = (line: string, number: number): Fields => {
  try {
    const value: unknown = JSON.parse(line)
    if (isFields(value)) return value
  } catch (error) {
    throw new FileProblem(number, `this is no JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  throw new FileProblem(number, "this is no object")
}

const headOf = (line: string): Omit<ThreadFile, "events" | "steps"> => {
  const { chart, exportedAt, thread, type, version, withoutContent } = objectOf(line, 1)
  if (type !== fileType) throw new FileProblem(1, `this is no downloaded thread: its type is not ${fileType}`)
  if (version !== fileVersion)
    throw new FileProblem(1, `this console reads version ${fileVersion} of such files, and this is ${String(version)}`)
  if (!isFields(thread) || typeof thread.id !== "string") throw new FileProblem(1, "it names no thread")
  if (!isFields(chart) || typeof chart.kind !== "string" || typeof chart.version !== "string")
    throw new FileProblem(1, "it has no chart")
  if (typeof exportedAt !== "string" || !time(exportedAt)) throw new FileProblem(1, "it does not say when it was made")
  return {
    exportedAt,
    withoutContent: withoutContent === true,
    thread: { id: thread.id, ...(typeof thread.title === "string" ? { title: thread.title } : {}) },
    chart: { kind: chart.kind, version: chart.version }
  }
}

/** Throws FileProblem. */
export const parseFile = (file: string): ThreadFile => {
  const [first = "", ...lines] = file.split("\n")
  const head = headOf(first)
  const events: Array<LogEvent> = []
  const steps: Array<Step> = []
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue
    const number = index + 2
    const { event, step, type } = objectOf(line, number)
    if (type === "event") {
      const whole = head.withoutContent && isFields(event) ? refilled(event) : event
      if (!isEvent(whole)) throw new FileProblem(number, "this is no event of a thread")
      const last = events.at(-1)
      if (last !== undefined && whole.seq !== last.seq + 1)
        throw new FileProblem(number, `event ${whole.seq} does not follow on event ${last.seq}`)
      events.push(whole)
    } else if (type === "step") {
      if (!isStep(step)) throw new FileProblem(number, "this is no step of an actor")
      if (step.pos <= (steps.at(-1)?.pos ?? 0)) throw new FileProblem(number, "this step is out of order")
      steps.push(step)
    } else throw new FileProblem(number, "it is neither event nor step")
  }
  return { ...head, events, steps }
}
