/**
 * The wire between nodes: subjects, and how messages look there.
 *
 * M1. Subjects are made of ids that the server made, never of text from a client.
 * M2. Whatever arrives is decoded by a schema; what is not ours is refused with a reason, never thrown.
 * M3. A message tells its version. Nodes of one version understand each other's; unknown fields are passed over.
 * M4. Kinds of hints that came later travel in a message and a field of their own: a node that does not know the field
 *     passes it over, one that knows the field passes over what it does not know in it, and no other hint goes with it.
 */
import { Option, Result, Schema } from "effect"
import { isIdOf } from "../domain/ids.ts"
import { threadStatuses } from "../domain/thread.ts"
import { OperationState } from "../operations/operation.ts"
import { coarseCount, coarseOf, shardsIn } from "../journal/shard.ts"
import type { About, News, NoAnswer, Watch } from "./hints.ts"
import type { Mistrust } from "./signature.ts"

/** Why something that arrived is ignored. */
export type Strange = "malformed" | "oversized" | "foreign" | "version" | Mistrust

/** A header: nodes of the version before do not look at it. */
export const signatureHeader = "Troupe-Signature"

const version = 1
const root = `troupe.v${version}`

/** Hints that are longer travel without texts, or as "look". */
export const hintBytes = 64 * 1024
/** Longest question and answer; a server's max_payload, 1 MiB unless set otherwise, may be less. */
export const requestBytes = 4 * 1024 * 1024

// Subjects

export const subjects = {
  auth: `${root}.auth`,
  /** That the list of nodes is to be read again. */
  nodes: `${root}.nodes`,
  /** That a node is there, what it wants, and that hints of it were lost. */
  presence: `${root}.presence`,
  wakes: `${root}.wake.*`,
  /** Of sixteen shards together: nodes of earlier versions know no finer ones. */
  wake: (shard: number) => `${root}.wake.${coarseOf(shard)}`,
  /** Prefix of the subjects that answers come back on: one permission on `troupe.v1.>` is enough. */
  answers: `${root}.answer`
} as const

const isWorkspace = isIdOf("workspace")
const isAgent = isIdOf("agent")
const isThread = isIdOf("thread")
const isNode = isIdOf("node")

/** Stands for the agent of a thread that has none. */
const none = "-"

/** undefined for what no node of ours has made (M1). */
export const nodeSubject = (incarnation: string) => (isNode(incarnation) ? `${root}.node.${incarnation}` : undefined)

/** What is about no thread has a subject of its own: nodes of the version before know none without one. */
export const hintSubject = ({ agentId, threadId, workspace }: About) => {
  if (!isWorkspace(workspace) || (agentId !== "" && !isAgent(agentId))) return undefined
  if (threadId === "") return `${root}.news.${workspace}.${agentId || none}`
  return isThread(threadId) ? `${root}.hint.${workspace}.${agentId || none}.${threadId}` : undefined
}

/** Where a watch listens; empty for what no node of ours would ask. */
export const watchSubjects = ({ agentId, threadId, workspace }: Watch): ReadonlyArray<string> => {
  if (!isWorkspace(workspace) || (agentId !== undefined && !isAgent(agentId))) return []
  if (threadId !== undefined) return isThread(threadId) ? [`${root}.hint.${workspace}.*.${threadId}`] : []
  return [`${root}.hint.${workspace}.${agentId ?? "*"}.*`, `${root}.news.${workspace}.${agentId ?? "*"}`]
}

export const readHintSubject = (subject: string): Result.Result<About, Strange> => {
  const [, , , workspace = "", agent = "", threadId = "", ...rest] = subject.split(".")
  const agentId = agent === none ? "" : agent
  return rest.length === 0 && hintSubject({ workspace, agentId, threadId }) === subject
    ? Result.succeed({ workspace, agentId, threadId })
    : Result.fail("foreign")
}

/** The shards that are woken. */
export const readWakeSubject = (subject: string): Result.Result<ReadonlyArray<number>, Strange> => {
  const text = subject.slice(subject.lastIndexOf(".") + 1)
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) < coarseCount
    ? Result.succeed(shardsIn(Number(text)))
    : Result.fail("foreign")
}

// Messages of JSON

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A frame of Server-Sent Events is made of it as it is: a line end would break out. */
const line = Schema.String.check(Schema.isPattern(/^[^\r\n]*$/))
const text = Schema.String
const position = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const news = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("events"),
    events: Schema.Array(Schema.Struct({ seq: position, turnId: text, type: text, text: Schema.optionalKey(line) }))
  }),
  Schema.Struct({ type: Schema.Literal("delta"), turnId: text, eventId: text, index: position, text }),
  Schema.Struct({ type: Schema.Literal("discard"), eventId: text }),
  Schema.Struct({ type: Schema.Literal("status"), status: Schema.Literals(threadStatuses), lastSeq: position }),
  Schema.Struct({
    type: Schema.Literal("wait"),
    waitId: text,
    state: Schema.Literals(["open", "resolved", "expired", "cancelled"]),
    target: Schema.Literals(["person", "client", "url", "agent"])
  }),
  Schema.Struct({ type: Schema.Literal("queue"), pending: position }),
  Schema.Struct({ type: Schema.Literal("look") })
])

/** M4. */
const later = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("progress"),
    toolCallId: text,
    progress: Schema.Finite,
    total: Schema.optionalKey(Schema.Finite),
    message: Schema.optionalKey(text)
  }),
  Schema.Struct({ type: Schema.Literal("operation"), operationId: text, action: text, state: OperationState }),
  Schema.Struct({ type: Schema.Literal("feed"), feedId: text, lastSeq: position }),
  Schema.Struct({ type: Schema.Literal("moved"), actorId: text })
])
const laterKinds: ReadonlySet<string> = new Set<(typeof later.Type)["type"]>(["progress", "operation", "feed", "moved"])
const readLater = Schema.decodeUnknownOption(later)

const topic = Schema.String.check(Schema.isPattern(/^wsp_[0-9a-z]{26}(\/(agt|thr)_[0-9a-z]{26})?$/))

const presence = Schema.Struct({
  /** Topics whose deltas are wanted for a while. */
  deltas: Schema.Array(topic),
  /** The sender is new here: tell it yours. */
  ask: Schema.optionalKey(Schema.Boolean),
  /** Hints of the sender were lost. */
  look: Schema.optionalKey(Schema.Boolean)
})
export type Presence = typeof presence.Type

const written = (message: object) => encoder.encode(JSON.stringify({ v: version, ...message }))

const reader = <A>(schema: Schema.Decoder<A>, mostBytes: number) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (data: Uint8Array): Result.Result<A, Strange> => {
    if (data.length > mostBytes) return Result.fail("oversized")
    let found: unknown
    try {
      found = JSON.parse(decoder.decode(data))
    } catch {
      return Result.fail("malformed")
    }
    if (typeof found !== "object" || found === null || !("v" in found)) return Result.fail("malformed")
    if (found.v !== version) return Result.fail("version")
    return Option.match(decode(found), { onNone: () => Result.fail("malformed"), onSome: Result.succeed })
  }
}

/** Says nothing but that it came. */
export const bare = written({})
export const readBare = reader(Schema.Struct({}), 1024)

export const writePresence = (message: Presence) => written(message)
export const readPresence = reader(presence, 2 * hintBytes)

const readNews = reader(
  Schema.Struct({ hints: Schema.Array(news), later: Schema.optionalKey(Schema.Array(Schema.Unknown)) }),
  2 * hintBytes
)
export const readHints = (data: Uint8Array): Result.Result<ReadonlyArray<News>, Strange> =>
  Result.map(readNews(data), ({ hints, later = [] }) => [
    ...hints,
    ...later.flatMap((hint) => Option.toArray(readLater(hint)))
  ])

const withoutTexts = (hint: News): News =>
  hint.type === "events"
    ? { type: "events", events: hint.events.map(({ seq, turnId, type }) => ({ seq, turnId, type })) }
    : hint

/** Those in a row that may go together (M4). */
const runsOf = (hints: ReadonlyArray<News>): ReadonlyArray<ReadonlyArray<News>> => {
  const runs: Array<Array<News>> = []
  for (const hint of hints) {
    const [run] = runs.at(-1) ?? []
    if (run !== undefined && laterKinds.has(run.type) === laterKinds.has(hint.type)) runs.at(-1)?.push(hint)
    else runs.push([hint])
  }
  return runs
}

/** As few messages as they fit into, in their order. */
export const writeHints = (hints: ReadonlyArray<News>): ReadonlyArray<Uint8Array> => {
  const runs = runsOf(hints)
  if (runs.length > 1) return runs.flatMap(writeHints)
  if (hints.some(({ type }) => laterKinds.has(type))) {
    const whole = written({ hints: [], later: hints })
    // One of them is never that long.
    return whole.length <= hintBytes || hints.length === 1 ? [whole] : hints.flatMap((hint) => writeHints([hint]))
  }
  const whole = written({ hints })
  if (whole.length <= hintBytes) return [whole]
  if (hints.length > 1) return hints.flatMap((hint) => writeHints([hint]))
  const short = written({ hints: hints.map(withoutTexts) })
  return [short.length <= hintBytes ? short : written({ hints: [{ type: "look" }] })]
}

// Questions and answers: one line with the version, then text as it is

const head = `${version}\n`
const refusals = ["busy", "failed"] as const
type Refusal = Extract<NoAnswer["reason"], (typeof refusals)[number]>

const readText = (data: Uint8Array): Result.Result<string, Strange> => {
  if (data.length > requestBytes) return Result.fail("oversized")
  let found: string
  try {
    found = decoder.decode(data)
  } catch {
    return Result.fail("malformed")
  }
  if (found.startsWith(head)) return Result.succeed(found.slice(head.length))
  return Result.fail(/^\d{1,9}\n/.test(found) ? "version" : "malformed")
}

export const writeRequest = (message: string) => encoder.encode(head + message)
export const readRequest = readText

export const writeAnswer = (answer: string) => encoder.encode(`${head}+${answer}`)
export const writeRefusal = (reason: Refusal) => encoder.encode(`${head}-${reason}`)
export const readWireAnswer = (
  data: Uint8Array
): Result.Result<{ readonly answer: string } | { readonly refused: Refusal }, Strange> =>
  Result.flatMap(
    readText(data),
    (found): Result.Result<{ readonly answer: string } | { readonly refused: Refusal }, Strange> => {
      if (found.startsWith("+")) return Result.succeed({ answer: found.slice(1) })
      const refused = refusals.find((reason) => found === `-${reason}`)
      return refused === undefined ? Result.fail("malformed") : Result.succeed({ refused })
    }
  )
