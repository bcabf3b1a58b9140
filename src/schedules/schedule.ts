/** Schedule (contract C38.1 to C38.4): a message that an agent gets by itself, again and again or once. */
import { Schema } from "effect"
import { UserContent } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { Identity, identityOf } from "../domain/identity.ts"
import { limits } from "../domain/limits.ts"
import { ModelSelector } from "../domain/modelSelector.ts"
import { Principal } from "../domain/principal.ts"
import { ThreadId } from "../domain/resourceIds.ts"
import { maxChars, nonBlankLine } from "../domain/text.ts"
import { AnyTime, Timestamp } from "../domain/time.ts"
import { MaxCost } from "../domain/maxCost.ts"

const says = {
  name: "The schedule's name, for people.",
  trigger: "When it fires.",
  target: "Where its message goes: into a thread of its own each time, or into one thread.",
  message: "The message.",
  model: "Model for the turns. Absent: the thread's, or the profile's.",
  submitMode: "How the message reaches a turn that runs in the target thread.",
  overlap:
    "How an instant goes while the turn that the schedule began last still runs or waits: the instant is " +
    "skipped, one waits for the end, the turn is cancelled first, or both run.",
  catchUpSeconds: "How old the newest instant that was missed may be and still fire.",
  jitterSeconds: "Up to how many seconds later it fires, by instant: spreads the load of many schedules.",
  maxCost: "USD that each thread that it makes may cost.",
  identity: "Identity that its turns work for. Absent: the identity of its maker, if it has one.",
  endAt: "Behind this moment it has no instants.",
  enabled: "Whether it fires."
}

const seconds = ({ least, most }: { readonly least: number; readonly most: number }) =>
  Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }))

const Expression = Schema.String.check(maxChars(limits.cronChars))
const Timezone = Schema.String.check(maxChars(limits.timezoneChars))

const CronTrigger = Schema.Struct({
  type: described(Schema.Literal("cron"), "By the clock on the wall."),
  expression: described(Expression, "Five fields (minute, hour, day, month, weekday), or @hourly, @daily and so on."),
  timezone: described(Timezone, "Name of the time zone in the IANA database, such as Europe/Berlin.")
})
const IntervalTrigger = Schema.Struct({
  type: described(Schema.Literal("interval"), "Every so many seconds."),
  seconds: described(seconds(limits.scheduleIntervalSeconds), "Seconds from one instant to the next."),
  startAt: described(
    Schema.optionalKey(AnyTime),
    "The first instant. Absent: one interval after the schedule was made, enabled or changed."
  )
})
const OnceTrigger = Schema.Struct({
  type: described(Schema.Literal("once"), "At one instant only."),
  at: described(AnyTime, "The instant.")
})
export const Trigger = Schema.Union([CronTrigger, IntervalTrigger, OnceTrigger]).annotate({ identifier: "Trigger" })
export type Trigger = typeof Trigger.Type

export const ScheduleTarget = Schema.Union([
  Schema.Struct({ mode: described(Schema.Literal("spawn"), "A new thread each time.") }),
  Schema.Struct({
    mode: described(Schema.Literal("thread"), "The same thread each time."),
    threadId: described(ThreadId, "The thread. It must be one of the same agent.")
  })
]).annotate({ identifier: "ScheduleTarget" })

const Message = Schema.Struct({ content: described(UserContent, says.message) })

export const overlaps = ["skip", "queue", "interrupt", "allow"] as const
const Overlap = Schema.Literals(overlaps)
export type Overlap = typeof Overlap.Type
const SubmitModes = Schema.Literals(["queue", "steer", "interrupt"])

const Name = Schema.String.check(nonBlankLine, maxChars(limits.scheduleNameChars))

/** What a client may say of a schedule: the body of a create, and what a patch is merged into. */
export const ScheduleInput = Schema.Struct({
  name: described(Name, says.name),
  trigger: described(Trigger, says.trigger),
  target: described(ScheduleTarget, says.target),
  message: described(Message, says.message),
  model: described(Schema.optionalKey(ModelSelector), says.model),
  submitMode: described(Schema.optionalKey(SubmitModes), `${says.submitMode} \`queue\` when absent.`),
  overlap: described(Schema.optionalKey(Overlap), `${says.overlap} \`skip\` when absent.`),
  catchUpSeconds: described(
    Schema.optionalKey(seconds(limits.scheduleCatchUpSeconds)),
    `${says.catchUpSeconds} ${limits.scheduleCatchUpSeconds.usual} when absent.`
  ),
  jitterSeconds: described(
    Schema.optionalKey(seconds(limits.scheduleJitterSeconds)),
    `${says.jitterSeconds} 0 when absent.`
  ),
  maxCost: described(Schema.optionalKey(MaxCost), says.maxCost),
  identity: Schema.optionalKey(identityOf(says.identity)),
  endAt: described(Schema.optionalKey(AnyTime), says.endAt),
  enabled: described(Schema.optionalKey(Schema.Boolean), `${says.enabled} True when absent.`)
}).annotate({ identifier: "ScheduleInput" })
export type ScheduleInput = typeof ScheduleInput.Type

const nullable = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/**
 * JSON Merge Patch of a schedule: absent keeps, null clears. A trigger or target of another type takes the place of the
 * one that was. The merged whole is checked again as `ScheduleInput`.
 */
export const SchedulePatch = Schema.Struct({
  name: described(Schema.optionalKey(Name), says.name),
  trigger: described(
    Schema.optionalKey(
      Schema.Struct({
        type: described(Schema.optionalKey(Schema.Literals(["cron", "interval", "once"])), "Which kind of trigger."),
        expression: described(Schema.optionalKey(Expression), "For type `cron` only."),
        timezone: described(Schema.optionalKey(Timezone), "For type `cron` only."),
        seconds: described(Schema.optionalKey(seconds(limits.scheduleIntervalSeconds)), "For type `interval` only."),
        startAt: described(nullable(AnyTime), "For type `interval` only."),
        at: described(Schema.optionalKey(AnyTime), "For type `once` only.")
      })
    ),
    says.trigger
  ),
  target: described(Schema.optionalKey(ScheduleTarget), says.target),
  message: described(Schema.optionalKey(Message), says.message),
  model: described(nullable(ModelSelector), says.model),
  submitMode: described(nullable(SubmitModes), says.submitMode),
  overlap: described(nullable(Overlap), says.overlap),
  catchUpSeconds: described(nullable(seconds(limits.scheduleCatchUpSeconds)), says.catchUpSeconds),
  jitterSeconds: described(nullable(seconds(limits.scheduleJitterSeconds)), says.jitterSeconds),
  maxCost: described(nullable(MaxCost), says.maxCost),
  identity: described(nullable(Identity), says.identity),
  endAt: described(nullable(AnyTime), says.endAt),
  enabled: described(nullable(Schema.Boolean), says.enabled)
}).annotate({ identifier: "SchedulePatch" })
export type SchedulePatch = typeof SchedulePatch.Type

export const runStatuses = ["starting", "started", "skipped", "failed"] as const

export const ScheduleRun = Schema.Struct({
  id: described(Schema.String, "Id of the run."),
  scheduleId: described(Schema.String, "The schedule."),
  scheduledAt: described(Timestamp, "The instant, without jitter; of a run by hand, when it was asked for."),
  by: described(Schema.Literals(["schedule", "manual"]), "Whether its moment came, or somebody asked for it."),
  status: described(
    Schema.Literals(runStatuses),
    "`started` says that the message was accepted, not that its turn succeeded."
  ),
  reason: described(Schema.optionalKey(Schema.String), "Why it was skipped, or has failed."),
  count: described(Schema.optionalKey(Schema.Int), "How many instants were missed, up to 10,000."),
  threadId: described(Schema.optionalKey(Schema.String), "Thread that the message went to."),
  turnId: described(Schema.optionalKey(Schema.String), "Turn that the message opens, or has joined."),
  startedAt: described(Schema.optionalKey(Timestamp), "When the message was accepted.")
}).annotate({ identifier: "ScheduleRun" })
export type ScheduleRun = typeof ScheduleRun.Type

export const Schedule = Schema.Struct({
  id: described(Schema.String, "Id of the schedule."),
  agentId: described(Schema.String, "Agent that gets the message."),
  name: described(Schema.String, says.name),
  trigger: described(Trigger, says.trigger),
  target: described(ScheduleTarget, says.target),
  message: described(Message, says.message),
  model: described(Schema.optionalKey(Schema.String), says.model),
  submitMode: described(SubmitModes, says.submitMode),
  overlap: described(Overlap, says.overlap),
  catchUpSeconds: described(Schema.Int, says.catchUpSeconds),
  jitterSeconds: described(Schema.Int, says.jitterSeconds),
  maxCost: described(Schema.optionalKey(Schema.Finite), says.maxCost),
  identity: described(Schema.optionalKey(Schema.String), says.identity),
  endAt: described(Schema.optionalKey(Timestamp), says.endAt),
  enabled: described(Schema.Boolean, says.enabled),
  disabledReason: described(
    Schema.optionalKey(Schema.String),
    "Why it does not fire any more, where nobody has switched it off: `finished`, `failures`, `agent_archived`, " +
      "`thread_archived`, `thread_not_found` or `poisoned`."
  ),
  nextInstants: described(Schema.Array(Timestamp), "The next instants, at most five, without jitter."),
  lastRunAt: described(Schema.optionalKey(Timestamp), "When it fired last, or was skipped."),
  lastStatus: described(
    Schema.optionalKey(Schema.Literals(["started", "skipped", "failed"])),
    "Status of the last run."
  ),
  lastThreadId: described(Schema.optionalKey(Schema.String), "Thread of the last turn that it began."),
  lastTurnId: described(Schema.optionalKey(Schema.String), "The last turn that it began."),
  createdAt: described(Timestamp, "When it was made."),
  updatedAt: described(Timestamp, "When it was last changed by somebody."),
  createdBy: described(Principal, "Who made it.")
}).annotate({ identifier: "Schedule" })
export type Schedule = typeof Schedule.Type
