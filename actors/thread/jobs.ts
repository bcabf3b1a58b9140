/** How a thread's jobs are told apart, and the outcome of a job that is lost. */
import type { Job } from "../../machines/thread/draft.ts"
import type { Run } from "../Kind.ts"
import type { Outcome } from "./requests.ts"

/** Names say what an outcome must fit: with the same name it fits. All of a turn begin with its id. */
export const runOf = (job: Job): Run => {
  const { turnId } = job.params
  switch (job.type) {
    case "sample": {
      const { attempt, step, target } = job.params
      return { start: `${turnId}/sample/${step}/${target}/${attempt}`, repeatable: true }
    }
    case "askHook": {
      const { data, index, message, round, step } = job.params
      const question = round === undefined ? index : `${index}/${round}`
      const about = "toolCallId" in data ? data.toolCallId : (message ?? "reply")
      return {
        start: `${turnId}/${data.point}/${step}/${about}/${question}`,
        repeatable: true
      }
    }
    case "runTool":
      return { start: `${turnId}/tool/${job.params.toolCallId}`, repeatable: job.params.rerunnable }
    case "summarise": {
      const { round, step } = job.params
      return { start: `${turnId}/summary/${step}/${round}`, repeatable: true }
    }
    case "abandon":
      return { stop: `${turnId}/` }
  }
}

/** Only a tool may have done something that must not be done twice. */
export const lostOutcome = (job: Job): Extract<Outcome, { readonly type: "tool.returned" }> => {
  if (job.type !== "runTool") throw new Error(`a ${job.type} is never lost: it is performed again`)
  const { toolCallId, turnId } = job.params
  return {
    type: "tool.returned",
    turnId,
    toolCallId,
    durationMs: 0,
    failure: {
      code: "tool_outcome_unknown",
      text: "The node that ran the call was lost; the call may or may not have taken effect."
    }
  }
}
