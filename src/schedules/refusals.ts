/** Why a schedule is not made or not changed: the words of the contract, for endpoints and tools alike. */
import { limits } from "../domain/limits.ts"
import type { ScheduleCreateRefusal, ScheduleNotThere, ScheduleRunRefusal, UnfitSchedule } from "./rows.ts"

export interface ScheduleRefusal<Word extends string> {
  readonly error: Word
  readonly message: string
  readonly code?: string
}

const is = <const Word extends string>(error: Word, message: string, code?: string): ScheduleRefusal<Word> => ({
  error,
  message,
  ...(code === undefined ? {} : { code })
})

export const unfit = (why: UnfitSchedule) => {
  switch (why.refused) {
    case "thread_not_found":
      return is("thread_not_found", "target.threadId: the agent has no such thread")
    case "thread_archived":
      return is("thread_archived", "target.threadId: the thread is archived")
    case "image_not_found":
      return is("image_not_found", why.message)
    case "moment":
      return is("invalid_request", why.message, "invalid_body")
    case "invalid_cron":
    case "invalid_timezone":
      return is("invalid_request", why.message, why.refused)
  }
}

export const agentArchived = is("agent_archived", "the agent is archived: nothing wakes it")

export const notMade = (why: ScheduleCreateRefusal) => {
  switch (why.refused) {
    case "no_agent":
      return is("not_found", "no such agent")
    case "agent_archived":
      return agentArchived
    case "too_many":
      return is("too_many_schedules", `the agent has ${limits.schedules} schedules, as many as it may`)
    default:
      return unfit(why)
  }
}

export const notRun = ({ refused }: ScheduleRunRefusal) =>
  refused === "agent_archived" ? agentArchived : notThere({ refused })

export const modelNotInProfile = is(
  "permission_denied",
  "model: the agent's profile does not select it",
  "model_not_in_profile"
)

export const notThere = ({ refused }: ScheduleNotThere) =>
  refused === "not_found"
    ? is("not_found", "no such schedule")
    : is("precondition_failed", "If-Match: the schedule has changed since")
