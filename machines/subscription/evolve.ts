/**
 * What a fact makes of a subscription. The live one and the fold use the same.
 *
 * E1. Notices are in order and without overlap, and hold no message that is dealt with.
 * E2. While something is in hand, everything before it is dealt with, unless the feed is still to be looked through.
 * E3. Notices may be in the inbox when the feed is told of a change. The first message that they name is not dealt
 *     with, nor is anything behind it: the feed is looked through from there. So no change waits for an empty inbox.
 * E4. A pause may end before its feed has answered. The feed is told of the pause, then of its end; the subscription
 *     goes on from the end of what was judged before the pause, or before another condition was asked for.
 */
import type { SubscriptionSettings } from "../../src/domain/subscription.ts"
import type { Context, Last, ListingDue, Range } from "./context.ts"
import type { Fact } from "./facts.ts"

type Configured = Extract<Fact, { readonly type: "configured" }>
type Listed = Extract<Fact, { readonly type: "listed" }>

/** More ranges than that become fewer: what lies between is looked at again, and does not match. */
const mostRanges = 64

const joined = (a: Range, b: Range): Range => ({
  from: a.from,
  to: Math.max(a.to, b.to),
  count: a.count + b.count,
  exact: a.exact && b.exact && b.from > a.to
})

/** E1. */
const withRange = (noticed: ReadonlyArray<Range>, added: Range): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  for (const range of [...noticed, added].sort((a, b) => a.from - b.from)) {
    const before = ranges.at(-1)
    if (before !== undefined && (range.from <= before.to + 1 || ranges.length >= mostRanges))
      ranges[ranges.length - 1] = joined(before, range)
    else ranges.push(range)
  }
  return ranges
}

/** E1: of a range that is partly dealt with nobody knows how many are left. */
const behind = (noticed: ReadonlyArray<Range>, seq: number): ReadonlyArray<Range> =>
  noticed.flatMap((range) => {
    if (range.to <= seq) return []
    return range.from > seq ? [range] : [{ ...range, from: seq + 1, exact: false }]
  })

/** A seq behind which messages of the feed may not have been judged by the settings of now; undefined: all were. */
const unreadBehind = ({ cursor, listing }: Context) => {
  if (listing === null) return undefined
  const { looks, pause, since } = listing
  return pause === undefined ? (since ?? (looks ? cursor : undefined)) : pause.since
}

const dealtWith = (context: Context, to: number): Context => {
  const noticed = behind(context.noticed, to)
  const reached = unreadBehind(context) !== undefined ? to : (noticed[0]?.from ?? to + 1) - 1
  return { ...context, noticed, cursor: Math.max(context.cursor, reached) }
}

/** What nobody works on, and nothing goes wrong with. */
const atRest = { until: null, look: null, batch: null, retryAt: null, attempts: 0, refusals: 0 }

const noticedIn = (context: Context, notice: Range): Context => {
  // E1: a notice may be late, of messages that were skipped since.
  const [range] = behind([notice], context.cursor)
  if (range === undefined) return context
  const isFirst = context.noticed.length === 0 && context.listing?.looks !== true && context.disabled === null
  return {
    ...context,
    noticed: withRange(context.noticed, range),
    // E2.
    cursor: isFirst ? Math.max(context.cursor, range.from - 1) : context.cursor
  }
}

/** E3. */
const listed = (context: Context, { from, lastSeq }: Listed): Context => {
  const { batch, cursor, listing, noticed } = context
  const unlisted = { ...context, listing: null }
  const since = unreadBehind(context)
  const isSettled = since === undefined
  if (isSettled && (listing?.pause ?? listing)?.settles !== true) return unlisted
  const judged = Math.max(cursor, Math.min(since ?? lastSeq, (from ?? lastSeq + 1) - 1))
  const unjudged = { from: judged + 1, to: lastSeq, count: lastSeq - judged, exact: false }
  const waiting = isSettled || lastSeq <= judged ? noticed : withRange(noticed, unjudged)
  // E2. What came behind the feed's word was judged by what the feed was told.
  const first = waiting[0]?.from ?? judged + 1
  const reached = Math.max(cursor, (isSettled ? Math.min(first, judged + 1) : first) - 1)
  const next = { ...unlisted, cursor: batch === null ? reached : cursor }
  return isSettled ? next : { ...next, covered: lastSeq, noticed: waiting }
}

const ended = (context: Context, to: number, last: Last): Context => ({ ...dealtWith(context, to), ...atRest, last })

/** The subscription goes on from its cursor: everything behind that is looked at once the feed is told. */
const goneOn = (context: Context, version: number): Context => ({
  ...context,
  noticed: context.batch === null ? [] : context.noticed,
  listing: { version, looks: true, settles: false }
})

/** E4. */
const enabled = (context: Context, { at, version }: Extract<Fact, { readonly type: "enabled" }>): Context => {
  const { listing } = context
  const next = { ...context, version, updatedAt: at, disabled: null }
  if (listing === null || (listing.since === undefined && !listing.settles)) return goneOn(next, version)
  const { settles, since } = listing
  // The version under which it was paused. Where the feed has heard of that already, it answers the same again.
  const pause = { version: version - 1, settles, ...(since === undefined ? {} : { since }) }
  return { ...next, listing: { version, looks: true, settles: false, pause } }
}

/** E4. Nodes of earlier versions tell the feed of the last change alone. */
const heard = (context: Context, fact: Listed): Context => {
  const { listing } = context
  if (listing?.pause === undefined) return listed(context, fact)
  const { pause, ...last } = listing
  return fact.version === pause.version
    ? goneOn(listed(context, fact), last.version)
    : listed({ ...context, listing: last }, fact)
}

/** What whoever appends judges by. */
const judgedBy = ({ condition = "", includeSelf }: SubscriptionSettings) => JSON.stringify([condition, includeSelf])

/**
 * The feed is told of other settings only after they are taken: until it is, appends are judged by those before. So it
 * is looked through from where it was then.
 */
const listingOf = ({ disabled, listing, settings }: Context, fact: Configured): ListingDue => {
  const { lastSeq, version } = fact
  const due = { looks: false, settles: false, ...listing, version }
  const { pause } = due
  const isSame = settings === null || judgedBy(settings) === judgedBy(fact.settings)
  if (isSame || lastSeq === undefined) return due
  if (pause !== undefined) return { ...due, pause: { ...pause, since: Math.min(pause.since ?? lastSeq, lastSeq) } }
  const since = Math.min(due.since ?? lastSeq, lastSeq)
  if (disabled !== null) return due.settles ? { ...due, since } : due
  return due.looks && due.since === undefined ? due : { ...due, looks: true, since }
}

/** What says which messages are handed over, and when. */
const rule = ({ cadence, condition = "", includeSelf, screen }: SubscriptionSettings) =>
  JSON.stringify([cadence, condition, includeSelf, screen])

const goesTo = (settings: SubscriptionSettings | null) =>
  settings?.target.mode === "thread" ? settings.target.threadId : settings?.target.mode

/**
 * Whoever the batch was handed to has refused it each time, so that nobody has it: where another thread is meant from
 * now on, another look makes a batch for that.
 */
const isRefused = ({ attempts, batch, disabled, refusals, retryAt }: Context) =>
  disabled === "thread_archived" ||
  disabled === "thread_not_found" ||
  disabled === "failures" ||
  (batch !== null && retryAt !== null && attempts > 0 && attempts === refusals)

const configured = (context: Context, fact: Configured): Context => {
  const { at, change, cursor, settings, version } = fact
  const next = { ...context, settings, change, version, updatedAt: at }
  if (cursor !== undefined)
    return {
      ...next,
      ...atRest,
      cursor,
      noticed: [],
      generation: context.generation + 1,
      listing: { version, looks: true, settles: false }
    }
  const withListing = { ...next, listing: listingOf(context, fact) }
  const ruled =
    context.settings !== null && rule(context.settings) === rule(settings)
      ? withListing
      : {
          ...withListing,
          // Whatever was counted or is looked at may be something else now.
          noticed: context.noticed.map((range) => ({ ...range, exact: false })),
          look: null,
          until: null
        }
  const isMoved = isRefused(context) && goesTo(context.settings) !== goesTo(settings)
  return isMoved ? { ...ruled, batch: null, retryAt: null, attempts: 0, refusals: 0 } : ruled
}

const change = (context: Context, fact: Fact): Context => {
  switch (fact.type) {
    case "configured":
      return configured(context, fact)
    case "enabled":
      return enabled(context, fact)
    case "disabled": {
      const { at, reason, version } = fact
      // A batch may have been taken already: it stays, and is told of or tried again.
      const { batch } = context
      const since = unreadBehind(context)
      const listing = { version, looks: false, settles: since === undefined, ...(since === undefined ? {} : { since }) }
      return { ...context, ...atRest, batch, version, updatedAt: at, disabled: reason, listing }
    }
    case "deleted": {
      const { at, version } = fact
      const listing = { version, looks: false, settles: false }
      return { ...context, ...atRest, noticed: [], version, updatedAt: at, deleted: true, listing }
    }
    case "listed":
      return heard(context, fact)
    case "noticed": {
      const { count, exact, from, to } = fact
      return noticedIn(context, { from, to, count, exact })
    }
    case "opened":
      return { ...context, until: fact.until }
    case "looked": {
      const number = context.looks + 1
      return { ...context, looks: number, look: { number, closes: fact.closes }, retryAt: null }
    }
    case "counted": {
      const { count, from, to } = fact
      const noticed = [{ from, to, count, exact: true }, ...behind(context.noticed, to)]
      return { ...context, noticed, cursor: Math.max(context.cursor, from - 1), look: null, attempts: 0, refusals: 0 }
    }
    case "skipped":
      return { ...dealtWith(context, fact.to), look: null, until: null, attempts: 0, refusals: 0 }
    case "began":
      return { ...context, batch: fact.batch, look: null, until: null, attempts: 0, refusals: 0 }
    case "rethreaded":
      return context.batch === null ? context : { ...context, batch: { ...context.batch, threadId: fact.threadId } }
    case "retried":
      return { ...context, retryAt: null }
    case "escalated": {
      const { at, threadId, to, turnId } = fact
      return { ...ended(context, to, { at, status: "escalated" }), threadId, turnId }
    }
    case "dismissed": {
      const { at, reason, to } = fact
      return ended(context, to, { at, status: "dismissed", ...(reason === undefined ? {} : { reason }) })
    }
    case "failed":
      return {
        ...context,
        look: null,
        until: null,
        // More may come into it before it is tried again.
        batch: fact.budget ? null : context.batch,
        retryAt: fact.retryAt,
        attempts: context.attempts + 1,
        refusals: context.refusals + (fact.refused && !fact.budget ? 1 : 0),
        last: { at: fact.at, status: "failed" }
      }
  }
}

export const evolve = (context: Context, fact: Fact): Context => ({ ...change(context, fact), pos: context.pos + 1 })
