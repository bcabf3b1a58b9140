/**
 * Ids that are hashes of what they stand for: work that is repeated after a crash has the id that it had, and finds
 * what it started: the same webhook-id, the same reviewer thread, the same question.
 */
import { hash } from "node:crypto"
import type { HookPoint } from "../../../src/domain/event.ts"
import { body, fromBytes, type Noun, prefixes } from "../../../src/domain/ids.ts"

/**
 * The time of `older`'s birth in front, so that ids sort; three zeros behind, so that others derive from it (ids.ts,
 * D1).
 */
const hashed = (noun: Noun, older: string, what: ReadonlyArray<unknown>) => {
  const digest = hash("sha256", JSON.stringify(what), "buffer")
  return prefixes[noun] + body(older).slice(0, 10) + fromBytes(digest.subarray(0, 16)).slice(3, 16) + "000"
}

export interface Delivered {
  readonly turnId: string
  readonly step: number
  readonly point: HookPoint
  readonly index: number
  readonly toolCallId?: string
  readonly message?: number
  readonly round?: number
}

/** A first question has the id that it has on nodes that know no rounds. */
export const deliveryIdOf = ({ index, message, point, round, step, toolCallId, turnId }: Delivered) =>
  hashed("delivery", turnId, [turnId, step, point, index, toolCallId, message, ...(round === undefined ? [] : [round])])

/** What a delivery or a call begins elsewhere, and can begin only once. */
export const begunBy = (
  noun: "thread" | "input" | "memoryVersion" | "operation" | "schedule" | "scheduleRun",
  id: string
) => hashed(noun, id, [noun, id])
