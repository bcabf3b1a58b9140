/** What a subscription may say happened. Facts that lists of evaluations show are public. */
import type { Principal } from "../../src/domain/principal.ts"
import type { DisabledReason, PassedReason, SubscriptionSettings } from "../../src/domain/subscription.ts"
import type { Batch } from "./context.ts"

export type Fact = { readonly at: number } & (
  | {
      readonly type: "configured"
      readonly change: string
      readonly version: number
      readonly settings: SubscriptionSettings
      readonly by: Principal
      /** Where it was set anew. */
      readonly cursor?: number
      /** Of the feed, when it was asked for. */
      readonly lastSeq?: number
    }
  | { readonly type: "enabled"; readonly version: number }
  | { readonly type: "disabled"; readonly version: number; readonly reason: DisabledReason }
  | { readonly type: "deleted"; readonly version: number }
  | {
      readonly type: "listed"
      /** Of the change that the feed was told of. Facts of earlier versions do not say it: of the last one. */
      readonly version?: number
      readonly lastSeq: number
      /** The first message that a notice in the inbox named then; absent: the inbox held none. */
      readonly from?: number
    }
  | {
      readonly type: "noticed"
      readonly from: number
      readonly to: number
      readonly count: number
      readonly exact: boolean
    }
  | { readonly type: "opened"; readonly until: number }
  | { readonly type: "looked"; readonly closes: boolean }
  | { readonly type: "counted"; readonly from: number; readonly to: number; readonly count: number }
  | { readonly type: "skipped"; readonly to: number }
  | { readonly type: "began"; readonly batch: Batch; readonly seqs: ReadonlyArray<number> }
  | { readonly type: "rethreaded"; readonly threadId: string }
  | { readonly type: "retried" }
  | {
      readonly type: "escalated"
      readonly from: number
      readonly to: number
      readonly count: number
      readonly threadId: string
      readonly turnId: string
    }
  | {
      readonly type: "dismissed"
      readonly from: number
      readonly to: number
      readonly count: number
      readonly reason?: PassedReason
    }
  | {
      readonly type: "failed"
      readonly from: number
      readonly to: number
      readonly code: string
      readonly text: string
      readonly refused: boolean
      readonly budget: boolean
      readonly retryAt: number
    }
)

const publicTypes: ReadonlySet<Fact["type"]> = new Set(["escalated", "dismissed", "failed"])

export const isPublic = ({ type }: Fact) => publicTypes.has(type)
