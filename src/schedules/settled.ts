/**
 * The normal form of what a client says of a schedule: defaults filled in, moments as timestamps. It is what is stored,
 * compared and shown, so that what says the same in other words changes nothing.
 */
import { limits } from "../domain/limits.ts"
import { toTimestamp } from "../domain/time.ts"
import type { ScheduleInput, Trigger } from "./schedule.ts"

type Defaulted = "submitMode" | "overlap" | "catchUpSeconds" | "jitterSeconds" | "enabled"
export type ScheduleSettings = Omit<ScheduleInput, Defaulted> & Required<Pick<ScheduleInput, Defaulted>>

const inUtc = (moment: string) => toTimestamp(Date.parse(moment))

const settledTrigger = (trigger: Trigger): Trigger => {
  switch (trigger.type) {
    case "cron":
      return trigger
    case "interval":
      return trigger.startAt === undefined ? trigger : { ...trigger, startAt: inUtc(trigger.startAt) }
    case "once":
      return { ...trigger, at: inUtc(trigger.at) }
  }
}

export const settled = ({ endAt, trigger, ...input }: ScheduleInput): ScheduleSettings => ({
  submitMode: "queue",
  overlap: "skip",
  catchUpSeconds: limits.scheduleCatchUpSeconds.usual,
  jitterSeconds: 0,
  enabled: true,
  ...input,
  trigger: settledTrigger(trigger),
  ...(endAt === undefined ? {} : { endAt: inUtc(endAt) })
})
