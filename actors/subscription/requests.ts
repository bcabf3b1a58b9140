/** What is asked of a subscription: its chart's commands without the time, and what goes with outcomes. */
import { Option, Schema } from "effect"
import type { Command } from "../../machines/subscription/commands.ts"
import { Principal } from "../../src/domain/principal.ts"
import { DisabledReason, SubscriptionSettings } from "../../src/domain/subscription.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"

type WithoutTime<C> = C extends unknown ? Omit<C, "at"> : never

/** A call of a model that an outcome has cost. */
export interface Used {
  readonly modelId: string
  /** As its provider has told. */
  readonly usage?: ModelUsage
  /** Something was set aside for it. */
  readonly priced: boolean
  /** The answer had begun, and its provider has not said what was used: it costs its prompt's price. */
  readonly cutOff?: true
}

export type Outcome = WithoutTime<
  Extract<Command, { readonly type: "evaluated" | "unevaluated" | "submitted" | "refused" | "passed" | "listed" }>
> & { readonly used?: Used }

export type SubscriptionRequest =
  | WithoutTime<Exclude<Command, { readonly type: "evaluated" | "unevaluated" | "delete" }>>
  | Outcome
  /** `version`: only while it is at that. */
  | { readonly type: "delete"; readonly version?: number }

const Travelled = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("configure"),
    change: Schema.String,
    settings: SubscriptionSettings,
    enabled: Schema.Boolean,
    cursor: Schema.optionalKey(Schema.Int),
    lastSeq: Schema.optionalKey(Schema.Int),
    version: Schema.Int,
    by: Principal
  }),
  Schema.Struct({ type: Schema.Literal("delete"), version: Schema.optionalKey(Schema.Int) }),
  Schema.Struct({ type: Schema.Literal("disable"), reason: DisabledReason }),
  Schema.Struct({
    type: Schema.Literal("notice"),
    from: Schema.Int,
    to: Schema.Int,
    count: Schema.Int,
    exact: Schema.Boolean
  })
])
const decode = Schema.decodeUnknownOption(Travelled)

/** Of another node, or of the inbox. */
export const decodeRequest = (sent: unknown): SubscriptionRequest | undefined => Option.getOrUndefined(decode(sent))
