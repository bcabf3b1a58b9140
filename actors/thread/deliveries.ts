/**
 * Ids of deliveries: a hash of what is asked (design, architecture), so that a question repeated after a
 * crash has the id that it had, and finds what it started: the same webhook-id, the same reviewer thread.
 */
import { hash } from "node:crypto"
import type { HookPoint } from "../../src/domain/event.ts"
import { body, fromBytes, prefixes } from "../../src/domain/ids.ts"

export interface Delivered {
  readonly turnId: string
  readonly step: number
  readonly point: HookPoint
  readonly index: number
  readonly toolCallId?: string
  readonly message?: number
}

/** The time of the turn's birth in front, so that ids sort; three zeros behind, so that others derive from it (ids.ts, D1). */
export const deliveryIdOf = ({ index, message, point, step, toolCallId, turnId }: Delivered) => {
  const digest = hash("sha256", JSON.stringify([turnId, step, point, index, toolCallId, message]), "buffer")
  return prefixes.delivery + body(turnId).slice(0, 10) + fromBytes(digest.subarray(0, 16)).slice(3, 16) + "000"
}
