/**
 * Structured logs: one line per entry, as JSON or for a person at a terminal.
 *
 * T1. Only the fields named below are ever written. Content of messages, credentials and headers have
 *     no field; whatever looks like a key or a bearer token is masked wherever it stands.
 * T2. Writing never blocks the hot path: lines leave in batches, warnings and errors at once.
 */
import { Cause, Effect, Layer, Logger, References } from "effect"
import { type Lines, makeLines } from "./lines.ts"

export const logLevels = ["trace", "debug", "info", "warn", "error", "none"] as const
export type LogLevel = (typeof logLevels)[number]

/** T1. */
const fields: ReadonlySet<string> = new Set([
  "workspaceId",
  "agentId",
  "threadId",
  "turnId",
  "eventId",
  "inputId",
  "toolCallId",
  "waitId",
  "operationId",
  "keyId",
  "profileId",
  "connectionId",
  "kind",
  "actorId",
  "epoch",
  "rev",
  "pos",
  "seq",
  "status",
  "command",
  "job",
  "step",
  "code",
  "reason",
  "failureCode",
  "model",
  "provider",
  "attempt",
  "requestId",
  "method",
  "route",
  "skipped",
  "ms",
  "count",
  "bytes",
  "node",
  "incarnation",
  "migration",
  "url",
  "port",
  "pid",
  "folder",
  "version",
  "signal",
  "bus",
  "operation",
  "subject",
  "shard"
])

const secrets =
  /\b(trp_[0-9A-Za-z]{8}|trl)_[0-9A-Za-z]+|(bearer\s+)[\w.~+/=-]+|\bwhsec_[\w+/=-]+|\btrd_[\w-]+|\bsk-[\w-]{8,}|(\/\/[^\s:/@]+:)[^\s@/]+@/gi

/** T1: a key keeps its public part, a URL its user name. */
export const mask = (text: string) =>
  text.replace(secrets, (_, key?: string, bearer?: string, user?: string) =>
    key !== undefined
      ? `${key}_***`
      : bearer !== undefined
        ? `${bearer}***`
        : user !== undefined
          ? `${user}***@`
          : "***"
  )

export interface Entry {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, string | number | boolean>>
  readonly cause?: string
}

const describe = (part: unknown): string =>
  typeof part === "string"
    ? part
    : part instanceof Error
      ? (part.stack ?? part.message)
      : Cause.isCause(part)
        ? Cause.pretty(part)
        : typeof part === "object" && part !== null
          ? ""
          : String(part)

const plain = (value: unknown) =>
  typeof value === "number" || typeof value === "boolean" ? value : typeof value === "string" ? mask(value) : undefined

const allowed = (annotations: Readonly<Record<string, unknown>>) => {
  const kept: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(annotations)) {
    const text = fields.has(name) ? plain(value) : undefined
    if (text !== undefined) kept[name] = text
  }
  return kept
}

export const toEntry = (options: Logger.Options<unknown>): Entry => {
  const parts: ReadonlyArray<unknown> = Array.isArray(options.message) ? options.message : [options.message]
  // `Effect.logInfo("text", { threadId })` is as good as an annotation.
  const records = parts.filter(
    (part): part is Record<string, unknown> =>
      typeof part === "object" &&
      part !== null &&
      !(part instanceof Error) &&
      !Cause.isCause(part) &&
      !Array.isArray(part)
  )
  const cause = options.cause.reasons.length === 0 ? undefined : mask(Cause.pretty(options.cause))
  return {
    time: options.date.toISOString(),
    level: options.logLevel.toLowerCase(),
    message: mask(
      parts
        .map(describe)
        .filter((text) => text !== "")
        .join(" ")
    ),
    fields: allowed(Object.assign({}, options.fiber.getRef(References.CurrentLogAnnotations), ...records)),
    ...(cause === undefined ? {} : { cause })
  }
}

export const toJson = ({ time, level, message, fields, cause }: Entry) =>
  JSON.stringify({ time, level, message, ...fields, ...(cause === undefined ? {} : { cause }) })

const colours: Readonly<Record<string, string>> = {
  error: "31",
  fatal: "31",
  warn: "33",
  info: "32",
  debug: "36",
  trace: "90"
}

/** Whether whoever reads a stream sees colours; a terminal has none where `NO_COLOR` is said. */
export const showsColours = (stream: { readonly isTTY?: boolean; readonly hasColors?: () => boolean }) =>
  stream.isTTY === true && stream.hasColors?.() === true

const toPretty =
  (coloured: boolean) =>
  ({ time, level, message, fields, cause }: Entry) => {
    const paint = (colour: string, text: string) => (coloured ? `\u001b[${colour}m${text}\u001b[0m` : text)
    const details = Object.entries(fields)
      .map(([name, value]) => ` ${paint("90", `${name}=`)}${value}`)
      .join("")
    return (
      `${paint("90", time.slice(11, 23))} ${paint(colours[level] ?? "0", level.padEnd(5))} ` +
      `${message}${details}${cause === undefined ? "" : `\n${cause}`}`
    )
  }

const minimum = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

export interface LogOptions {
  readonly level: LogLevel
  readonly format: "pretty" | "json"
  /** Of pretty lines; not unless said. */
  readonly coloured?: boolean
  readonly lines?: Lines
}

/** Replaces every other logger. */
export const layerLogs = ({ level, format, coloured = false, lines = makeLines() }: LogOptions) => {
  const render = format === "json" ? toJson : toPretty(coloured)
  const logger = Logger.make((options) => {
    const entry = toEntry(options)
    lines.write(render(entry), entry.level === "warn" || entry.level === "error" || entry.level === "fatal")
  })
  return Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, minimum[level]),
    Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(lines.flush)))
  )
}
