/** Deliveries as rows: listed, sent again by hand. Functions over a connection or a transaction. */
import { Schema } from "effect"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import { announcement } from "./event.ts"
import { type WebhookDelivery, WebhookEventType } from "./webhook.ts"

const readType = Schema.decodeUnknownSync(WebhookEventType)

const columns = [
  "d.id",
  "d.event",
  "d.state",
  "d.attempts",
  "d.next_at",
  "d.last_status",
  "d.last_error",
  "d.created_at",
  "e.type"
] as const

const selected = (db: Db, workspace: string, webhookId: string) =>
  db
    .selectFrom("webhook_deliveries as d")
    .innerJoin("webhook_events as e", (join) =>
      join.onRef("e.workspace", "=", "d.workspace").onRef("e.id", "=", "d.event")
    )
    .select(columns)
    .where("d.workspace", "=", toUuid(workspace))
    .where("d.webhook", "=", toUuid(webhookId))

type Row = Awaited<ReturnType<ReturnType<typeof selected>["executeTakeFirstOrThrow"]>>

const shown = (row: Row): WebhookDelivery => ({
  id: fromUuid("webhookDelivery", row.id),
  eventId: fromUuid("webhookEvent", row.event),
  type: readType(row.type),
  state: row.state,
  attempts: row.attempts,
  ...(row.state === "pending" ? { nextAttemptAt: toTimestamp(row.next_at.getTime()) } : {}),
  ...(row.last_status === null ? {} : { lastStatus: row.last_status }),
  ...(row.last_error === null ? {} : { lastError: row.last_error }),
  createdAt: toTimestamp(row.created_at.getTime())
})

export const listDeliveries = async (
  db: Db,
  workspace: string,
  webhookId: string,
  {
    after,
    limit,
    state
  }: { readonly after: Position | undefined; readonly limit: number; readonly state: string | undefined }
) => {
  const query = selected(db, workspace, webhookId)
    .where(behind("d.created_at", "d.id", after))
    .orderBy("d.created_at", "desc")
    .orderBy("d.id", "desc")
    .limit(limit)
  const rows = await (state === undefined
    ? query
    : query.where("d.state", "=", state === "pending" ? "pending" : state === "failed" ? "failed" : "delivered")
  ).execute()
  return rows.map(shown)
}

const readDelivery = async (db: Db, workspace: string, webhookId: string, uuid: string) => {
  const row = await selected(db, workspace, webhookId).where("d.id", "=", uuid).executeTakeFirst()
  return row && shown(row)
}

/** Due again, as if it had never been sent; undefined where there is none. */
export const redeliver = async (tx: Db, workspace: string, webhookId: string, deliveryId: string, at: number) => {
  const uuid = toUuid(deliveryId)
  await tx
    .updateTable("webhook_deliveries")
    .set({ state: "pending", attempts: 0, next_at: new Date(at) })
    .where("workspace", "=", toUuid(workspace))
    .where("webhook", "=", toUuid(webhookId))
    .where("id", "=", uuid)
    .execute()
  return readDelivery(tx, workspace, webhookId, uuid)
}

/** All that have failed for good and happened between the two moments (the second not included) are due again. */
export const resend = async (
  tx: Db,
  workspace: string,
  webhookId: string,
  { at, from, to }: { readonly at: number; readonly from: number; readonly to: number | undefined }
) => {
  const failed = tx
    .updateTable("webhook_deliveries")
    .set({ state: "pending", attempts: 0, next_at: new Date(at) })
    .where("workspace", "=", toUuid(workspace))
    .where("webhook", "=", toUuid(webhookId))
    .where("state", "=", "failed")
    .where("created_at", ">=", new Date(from))
  const { numUpdatedRows } = await (to === undefined
    ? failed
    : failed.where("created_at", "<", new Date(to))
  ).executeTakeFirst()
  return Number(numUpdatedRows)
}

/** An event that goes to this endpoint alone, whatever it wants to be told of. */
export const sendTest = async (tx: Db, workspace: string, webhookId: string, at: number) => {
  const event = announcement(workspace, "webhook.test", {}, at)
  const space = toUuid(workspace)
  await tx
    .insertInto("webhook_events")
    .values({
      workspace: space,
      id: toUuid(event.id),
      type: event.type,
      agent: null,
      body: event.body,
      created_at: new Date(at)
    })
    .execute()
  const id = toUuid(event.id)
  await tx
    .insertInto("webhook_deliveries")
    .values({
      workspace: space,
      id,
      webhook: toUuid(webhookId),
      event: id,
      state: "pending",
      next_at: new Date(at),
      last_status: null,
      last_error: null,
      created_at: new Date(at)
    })
    .execute()
  return readDelivery(tx, workspace, webhookId, id)
}
