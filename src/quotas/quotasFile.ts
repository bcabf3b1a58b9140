/**
 * The operator's file of quotas (`TROUPE_QUOTAS`): what it may hold, and why it was refused.
 *
 * ```json
 * { "defaults": { "threads": 1000000 },
 *   "workspaces": { "wsp_…": { "agents": 50, "stored_bytes": 1073741824 } } }
 * ```
 */
import { Data, Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { idOf } from "../domain/ids.ts"
import { wordsOf } from "../domain/problems.ts"
import { type Resource, settable, usualLimits } from "./quota.ts"

/** 0 lets nothing more in. */
const Limit = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const settableNames: ReadonlySet<string> = new Set(settable)

const Limits = Schema.Record(Schema.String, Limit).check(
  Schema.makeFilter((limits) => {
    const unknown = Object.keys(limits).find((name) => !settableNames.has(name))
    return (
      unknown === undefined || {
        path: [unknown],
        issue: `there is no such quota: the quotas are ${settable.join(", ")}`
      }
    )
  })
)

export const QuotasFile = Schema.Struct({
  defaults: Schema.optionalKey(Limits),
  workspaces: Schema.optionalKey(Schema.Record(idOf("workspace"), Limits))
})
export type QuotasFile = typeof QuotasFile.Type

/** The file cannot be used; the server does not start with half of the quotas. `reason` names the place in it. */
export class QuotasFileInvalid extends Data.TaggedError("QuotasFileInvalid")<{
  readonly source: string
  readonly reason: string
}> {
  override get message() {
    return `the quotas file ${this.source} cannot be used: ${this.reason}`
  }
}

const decode = Schema.decodeUnknownEffect(QuotasFile)

/** Decodes a parsed file. `source` is what errors call it. */
export const decodeQuotasFile = (json: unknown, source: string): Effect.Effect<QuotasFile, QuotasFileInvalid> =>
  decode(json, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.mapError((error) => new QuotasFileInvalid({ source, reason: wordsOf(error.issue, "the file") }))
  )

export const readQuotasFile = Effect.fn("readQuotasFile")(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) =>
      new QuotasFileInvalid({ source: path, reason: cause instanceof Error ? cause.message : "it cannot be read" })
  })
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) =>
      new QuotasFileInvalid({
        source: path,
        reason: `not JSON: ${cause instanceof Error ? cause.message : "it cannot be parsed"}`
      })
  })
  return yield* decodeQuotasFile(json, path)
})

/** A workspace's limit of a resource: its own, else the file's default, else the table's. */
export const limitsOf =
  ({ defaults = {}, workspaces = {} }: QuotasFile) =>
  (workspace: string, resource: Resource): number =>
    workspaces[workspace]?.[resource] ?? defaults[resource] ?? usualLimits[resource]
