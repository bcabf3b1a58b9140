/** What a subscription does when it is told something: plain functions over a draft. */
import { assertEvent } from "xstate"
import type { DisabledReason } from "../../src/domain/subscription.ts"
import type { Command, AttemptFailure } from "./commands.ts"
import type { Draft } from "./draft.ts"

/** Pauses before the next attempt. */
const pauseMs = { first: 5_000, most: 900_000, budget: 3_600_000 }
/** Refusals in a row that disable it. */
const mostRefusals = 5

export const configure = (d: Draft, event: Command) => {
  assertEvent(event, "configure")
  const { at, by, change, cursor, enabled, lastSeq, settings } = event
  const wasEnabled = d.context.disabled === null
  const version = d.context.version + 1
  const place = { ...(cursor === undefined ? {} : { cursor }), ...(lastSeq === undefined ? {} : { lastSeq }) }
  d.emit({ type: "configured", change, version, settings, by, at, ...place })
  if (enabled && !wasEnabled) d.emit({ type: "enabled", version, at })
  if (!enabled && wasEnabled) d.emit({ type: "disabled", version, reason: "requested", at })
}

const disableFor = (d: Draft, reason: DisabledReason, at: number) =>
  d.emit({ type: "disabled", version: d.context.version + 1, reason, at })

export const disable = (d: Draft, event: Command) => {
  assertEvent(event, "disable")
  disableFor(d, event.reason, event.at)
}

export const poison = (d: Draft, { at }: Command) => disableFor(d, "poisoned", at)

export const remove = (d: Draft, { at }: Command) => d.emit({ type: "deleted", version: d.context.version + 1, at })

export const list = (d: Draft, event: Command) => {
  assertEvent(event, "listed")
  const { at, from, lastSeq, version } = event
  d.emit({ type: "listed", version, lastSeq, ...(from === undefined ? {} : { from }), at })
}

/** The feed takes no messages any more. */
export const listArchived = (d: Draft, event: Command) => {
  list(d, event)
  disableFor(d, "feed_archived", event.at)
}

export const note = (d: Draft, event: Command) => {
  assertEvent(event, "notice")
  const { at, count, exact, from, to } = event
  d.emit({ type: "noticed", from, to, count, exact, at })
}

/** With the window's length, or at the next instant; without one there is nothing to wait for. */
export const openWindow = (d: Draft, { at, instant = at }: Command) => {
  const { cadence } = d.settings
  d.emit({ type: "opened", until: cadence.mode === "window" ? at + cadence.windowSeconds * 1000 : instant, at })
}

export const look = (d: Draft, { at }: Command) => {
  const { until } = d.context
  d.emit({
    type: "looked",
    closes: d.settings.cadence.mode === "immediate" || (until !== null && until <= at),
    at
  })
}

/** The same messages, and those that have come meanwhile. */
export const lookAgain = (d: Draft, { at }: Command) => d.emit({ type: "looked", closes: true, at })

export const find = (d: Draft, event: Command) => {
  assertEvent(event, "evaluated")
  const { at, found } = event
  switch (found.is) {
    case "few":
      return d.emit({ type: "counted", from: found.from, to: found.to, count: found.count, at })
    case "batch":
      return d.emit({ type: "began", batch: found.batch, seqs: found.seqs, at })
    case "dismissed": {
      const { count, from, reason, to } = found
      return d.emit({ type: "dismissed", from, to, count, ...(reason === undefined ? {} : { reason }), at })
    }
    case "nothing": {
      const { reason, to } = found
      const from = d.context.noticed[0]?.from ?? to
      if (reason === undefined) d.emit({ type: "skipped", to, at })
      else d.emit({ type: "dismissed", from, to, count: 0, reason, at })
    }
  }
}

const retryAfter = (attempts: number, { budget, retryAfterMs }: AttemptFailure) =>
  budget
    ? Math.min(Math.max(retryAfterMs ?? pauseMs.budget, pauseMs.first), pauseMs.budget)
    : Math.min(pauseMs.first * 2 ** Math.min(attempts, 20), pauseMs.most)

const fail = (d: Draft, range: { readonly from: number; readonly to: number }, failure: AttemptFailure, at: number) => {
  const { budget, code, disables, refused, text } = failure
  const { from, to } = range
  const retryAt = at + retryAfter(d.context.attempts, failure)
  d.emit({ type: "failed", from, to, code, text, refused, budget, retryAt, at })
  if (disables !== undefined) disableFor(d, disables, at)
  else if (d.context.refusals >= mostRefusals) disableFor(d, "failures", at)
}

export const failLook = (d: Draft, event: Command) => {
  assertEvent(event, "unevaluated")
  const { noticed } = d.context
  fail(d, { from: noticed[0]?.from ?? 0, to: noticed.at(-1)?.to ?? 0 }, event.failure, event.at)
}

export const failSubmit = (d: Draft, event: Command) => {
  assertEvent(event, "refused")
  fail(d, d.batch, event.failure, event.at)
}

/** The thread takes nothing any more: another one does. */
export const rethread = (d: Draft, event: Command) => {
  assertEvent(event, "refused")
  if (event.threadId !== undefined) d.emit({ type: "rethreaded", threadId: event.threadId, at: event.at })
}

export const escalate = (d: Draft, event: Command) => {
  assertEvent(event, "submitted")
  const { count, from, threadId, to } = d.batch
  d.emit({ type: "escalated", from, to, count, threadId, turnId: event.turnId, at: event.at })
}

export const pass = (d: Draft, event: Command) => {
  assertEvent(event, "passed")
  const { count, from, to } = d.batch
  d.emit({ type: "dismissed", from, to, count, reason: event.reason, at: event.at })
}

export const retry = (d: Draft, { at }: Command) => d.emit({ type: "retried", at })
