/** What the subscription's chart asks before a transition. */
import { mostOf } from "../../src/domain/subscription.ts"
import type { Command } from "./commands.ts"
import { type Context, countOf, toldNext } from "./context.ts"

interface GuardArgs {
  readonly context: Context
  readonly event: Command
}

/** Something was noticed, and nothing before it can still turn up. */
const isReady = ({ listing, noticed }: Context) => noticed.length > 0 && listing?.looks !== true

const isOver = (moment: number | null, { at }: Command) => moment !== null && moment <= at

export const guards = {
  enabled: ({ context }: GuardArgs) => context.disabled === null,
  disabled: ({ context }: GuardArgs) => context.disabled !== null,
  pausing: ({ context }: GuardArgs) => context.retryAt !== null,
  inHand: ({ context }: GuardArgs) => context.batch !== null,
  looking: ({ context }: GuardArgs) => context.look !== null,
  open: ({ context }: GuardArgs) => context.until !== null,
  gathers: ({ context }: GuardArgs) => isReady(context),
  /** It hands over at once, has as many as it may, or has to count them first. */
  looksNow: ({ context }: GuardArgs) => {
    const { noticed, settings } = context
    return (
      isReady(context) &&
      settings !== null &&
      (settings.cadence.mode === "immediate" ||
        noticed.some(({ exact }) => !exact) ||
        countOf(noticed) >= mostOf(settings))
    )
  },
  /** They are dealt with, the feed was looked through up to there already, or they were noticed before. */
  known: ({ context, event }: GuardArgs) =>
    event.type === "notice" &&
    (event.to <= Math.max(context.covered, context.cursor) ||
      context.noticed.some((r) => r.from <= event.from && r.to >= event.to)),
  staleListing: ({ context, event }: GuardArgs) =>
    event.type === "listed" && (context.listing === null || toldNext(context.listing) !== event.version),
  archivedFeed: ({ context, event }: GuardArgs) =>
    event.type === "listed" && event.archived && context.disabled === null,
  staleLook: ({ context, event }: GuardArgs) =>
    (event.type === "evaluated" || event.type === "unevaluated") && context.look?.number !== event.look,
  found: ({ event }: GuardArgs) => event.type === "evaluated" && event.found.is === "batch",
  staleBatch: ({ context, event }: GuardArgs) =>
    !("inputId" in event) || context.batch === null || context.batch.inputId !== event.inputId,
  newThread: ({ event }: GuardArgs) => event.type === "refused" && event.threadId !== undefined,
  windowOver: ({ context, event }: GuardArgs) => isOver(context.until, event),
  pauseOver: ({ context, event }: GuardArgs) => isOver(context.retryAt, event),
  /** Its feed is still to be looked through. */
  pauseOverUnread: ({ context, event }: GuardArgs) =>
    isOver(context.retryAt, event) && context.batch === null && context.listing?.looks === true,
  pauseOverInHand: ({ context, event }: GuardArgs) => isOver(context.retryAt, event) && context.batch !== null
}
