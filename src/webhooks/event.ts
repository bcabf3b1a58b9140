/**
 * What endpoints are told: a thin body of ids, as Standard Webhooks has it (contract C44.2). An endpoint that wants
 * more asks for it.
 */
import { hash } from "node:crypto"
import { fromBytes, prefixes } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import type { WebhookEventType } from "./webhook.ts"

export interface EventData {
  readonly agentId?: string
  readonly threadId?: string
  readonly turnId?: string
  readonly seq?: number
  readonly status?: string
  readonly waitId?: string
  readonly operationId?: string
  readonly scheduleId?: string
  readonly runId?: string
  readonly subscriptionId?: string
}

/** An event with the text that is sent. */
export interface Announcement {
  readonly id: string
  readonly type: WebhookEventType
  readonly agentId?: string
  readonly body: string
  /** Milliseconds. */
  readonly at: number
}

export const announcement = (
  workspace: string,
  type: WebhookEventType,
  data: EventData,
  at: number,
  id = freshId("webhookEvent")
): Announcement => ({
  id,
  type,
  ...(data.agentId === undefined ? {} : { agentId: data.agentId }),
  body: JSON.stringify({ type, timestamp: toTimestamp(at), data: { workspaceId: workspace, ...data } }),
  at
})

/** The same for everybody who comes upon it within an hour: told once. */
export const hourly = (name: string, at: number) =>
  prefixes.webhookEvent + fromBytes(hash("sha256", `${name}/${Math.floor(at / 3_600_000)}`, "buffer").subarray(0, 16))
