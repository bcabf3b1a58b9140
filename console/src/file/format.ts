/**
 * A thread as a file: lines of JSON. The first one has the thread and the chart that it runs by; then come its events
 * and steps in the order of its log, a step behind the events that it wrote.
 *
 *     {"type":"troupe.thread","version":1,"exportedAt":"…","thread":{…},"chart":{…}}
 *     {"type":"event","event":{…}}
 *     {"type":"step","step":{…}}
 *
 * `withoutContent` leaves ids, names, types, times, codes and usage, and of all the rest its size in bytes, as `sizes`
 * beside what is left.
 */
import type { LogEvent } from "../../../src/client/follow.ts"
import type { components } from "../../../src/client/types.ts"

export type Step = components["schemas"]["ActorStep"]
export type Thread = components["schemas"]["Thread"]
export type Chart = components["schemas"]["Chart"]

export const fileType = "troupe.thread"
export const fileVersion = 1
export const fileEnding = ".troupe.jsonl"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Fields by name: `true` keeps a field, an object says what to keep within it. All other fields leave their size. */
interface Kept {
  readonly [name: string]: true | Kept
}

const principal: Kept = { type: true, id: true }

const keptOfEvent: Kept = {
  seq: true,
  eventId: true,
  threadId: true,
  turnId: true,
  type: true,
  occurredAt: true,
  toolCallId: true,
  providerToolCallId: true,
  toolsetId: true,
  toolName: true,
  waitId: true,
  inputId: true,
  modelId: true,
  inReplyToSeq: true,
  finishReason: true,
  truncated: true,
  submitMode: true,
  failureCode: true,
  failureDetails: true,
  reveal: true,
  timing: true,
  usage: true,
  principal,
  submittedBy: principal,
  hook: {
    hookId: true,
    index: true,
    point: true,
    processor: true,
    decision: true,
    latencyMs: true,
    deliveryId: true,
    rewrote: true
  },
  compaction: { attempt: true, throughSeq: true },
  waitResult: { outcome: true, by: principal }
}

const keptOfThread: Kept = {
  id: true,
  agentId: true,
  workspaceId: true,
  profileId: true,
  profileVersion: true,
  model: true,
  maxCost: true,
  createdAt: true,
  updatedAt: true,
  archivedAt: true,
  askedBy: true,
  reviews: true,
  createdBy: principal,
  updatedBy: principal
}

const encoder = new TextEncoder()
const bytesOf = (value: unknown) =>
  encoder.encode(typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length

const stripped = (value: object, kept: Kept): Readonly<Record<string, unknown>> => {
  const left: Record<string, unknown> = {}
  const sizes: Record<string, number> = {}
  for (const [name, field] of Object.entries(value)) {
    const fields = Object.hasOwn(kept, name) ? kept[name] : undefined
    if (fields === true) left[name] = field
    else if (fields === undefined || !isObject(field)) sizes[name] = bytesOf(field)
    else left[name] = stripped(field, fields)
  }
  return Object.keys(sizes).length === 0 ? left : { ...left, sizes }
}

export const headLine = (
  head: { readonly thread: Thread; readonly chart: Chart; readonly exportedAt: string },
  withoutContent: boolean
) =>
  JSON.stringify({
    type: fileType,
    version: fileVersion,
    exportedAt: head.exportedAt,
    ...(withoutContent ? { withoutContent } : {}),
    thread: withoutContent ? stripped(head.thread, keptOfThread) : head.thread,
    chart: head.chart
  })

const eventLine = (event: LogEvent, withoutContent: boolean) =>
  JSON.stringify({ type: "event", event: withoutContent ? stripped(event, keptOfEvent) : event })

const stepLine = (step: Step) => JSON.stringify({ type: "step", step })

/** Lines of events and steps, both in their order, in the order of the log. */
export async function* logLines(
  events: AsyncIterable<LogEvent>,
  steps: AsyncIterable<Step>,
  withoutContent: boolean
): AsyncGenerator<string, void, undefined> {
  const coming = events[Symbol.asyncIterator]()
  let next = await coming.next()
  for await (const step of steps) {
    for (const { toSeq = 0 } = step; next.done !== true && next.value.seq <= toSeq; next = await coming.next())
      yield eventLine(next.value, withoutContent)
    yield stepLine(step)
  }
  for (; next.done !== true; next = await coming.next()) yield eventLine(next.value, withoutContent)
}
