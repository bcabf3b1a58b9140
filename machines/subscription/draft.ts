/** A change of a subscription in the making. */
import type { SubscriptionSettings } from "../../src/domain/subscription.ts"
import { Draft as Drafting } from "../step.ts"
import { type Batch, type Context, type Look, toldNext } from "./context.ts"
import { evolve } from "./evolve.ts"
import type { Fact } from "./facts.ts"

export type Job =
  /** Tells the feed of a change. */
  | { readonly type: "enlist"; readonly params: { readonly version: number } }
  /** Looks at what was noticed. */
  | { readonly type: "evaluate"; readonly params: { readonly look: number } }
  /** Hands the batch over. `attempt`: of this batch. */
  | {
      readonly type: "submit"
      readonly params: { readonly inputId: string; readonly threadId: string; readonly attempt: number }
    }
  /** Stops what is looked at or handed over. */
  | { readonly type: "abandon"; readonly params: { readonly what: "evaluate" | "submit" } }

export class Draft extends Drafting<Context, Fact, Job> {
  get settings(): SubscriptionSettings {
    if (this.context.settings === null) throw new Error("a subscription that was not made")
    return this.context.settings
  }

  get batch(): Batch {
    if (this.context.batch === null) throw new Error("nothing is handed over")
    return this.context.batch
  }

  get look(): Look {
    if (this.context.look === null) throw new Error("nothing is looked at")
    return this.context.look
  }

  protected evolve(context: Context, fact: Fact): Context {
    return evolve(context, fact)
  }
}

/** The jobs that a context implies. */
export const jobsOf = ({ attempts, batch, deleted, disabled, listing, look, retryAt }: Context): ReadonlyArray<Job> => [
  ...(listing === null ? [] : [{ type: "enlist" as const, params: { version: toldNext(listing) } }]),
  ...(deleted || disabled !== null || retryAt !== null
    ? []
    : batch !== null
      ? [{ type: "submit" as const, params: { inputId: batch.inputId, threadId: batch.threadId, attempt: attempts } }]
      : look !== null
        ? [{ type: "evaluate" as const, params: { look: look.number } }]
        : [])
]
