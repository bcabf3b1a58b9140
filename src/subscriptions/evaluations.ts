/** What became of a subscription's messages: the public facts of its actor, newest first. */
import { Schema } from "effect"
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { PassedReason } from "../domain/subscription.ts"
import { toTimestamp } from "../domain/time.ts"
import { readEvent } from "../journal/storedFact.ts"
import type { Evaluation } from "./subscription.ts"

const readStatus = Schema.decodeUnknownSync(Schema.Literals(["escalated", "dismissed", "failed"]))
const readFields = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      from: Schema.Int,
      to: Schema.Int,
      count: Schema.optionalKey(Schema.Int),
      reason: Schema.optionalKey(PassedReason),
      code: Schema.optionalKey(Schema.String),
      text: Schema.optionalKey(Schema.String),
      retryAt: Schema.optionalKey(Schema.Number),
      threadId: Schema.optionalKey(Schema.String),
      turnId: Schema.optionalKey(Schema.String)
    })
  )
)

interface Row {
  readonly seq: number
  readonly at: Date
  readonly event: string
}

const evaluationOf = ({ at, event, seq }: Row): Evaluation => {
  const said = readEvent(event)
  const { code, count, from, reason, retryAt, text, threadId, to, turnId } = readFields(said.event)
  return {
    seq,
    at: toTimestamp(at.getTime()),
    status: readStatus(said.type),
    fromSeq: from,
    toSeq: to,
    ...(count === undefined ? {} : { count }),
    ...(reason === undefined ? {} : { reason }),
    ...(code === undefined || text === undefined ? {} : { error: { code, message: text } }),
    ...(retryAt === undefined ? {} : { retryAt: toTimestamp(retryAt) }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(turnId === undefined ? {} : { turnId })
  }
}

export const listEvaluations = async (
  db: Db,
  workspace: string,
  id: string,
  { before, limit }: { readonly before: number | undefined; readonly limit: number }
): Promise<ReadonlyArray<Evaluation>> => {
  const { rows } = await sql<Row>`select f.seq, f.at, f.event from heads h join facts f on f.actor = h.id
    where h.workspace = ${toUuid(workspace)}::uuid and h.id = ${toUuid(id)}::uuid and f.seq is not null
      and (${before ?? null}::int is null or f.seq < ${before ?? null}::int)
      and f.at > now() - make_interval(days => ${limits.evaluationDays})
    order by f.seq desc limit ${limit}`.execute(db)
  return rows.map(evaluationOf)
}
