/** A thread's jobs and its public facts, as short texts that name turns and inputs as a test does. */
import type { Job } from "../../machines/thread/draft.ts"
import type { Fact } from "../../machines/thread/facts.ts"
import { nameOf } from "./WalkCommands.ts"

export const jobText = ({ params, type }: Job) =>
  type === "sample"
    ? `sample ${params.step}.${params.attempt} ${params.modelId}`
    : type === "runTool"
      ? `runTool ${params.name}`
      : type === "askHook"
        ? `askHook ${params.index} ${params.data.point}`
        : type === "summarise"
          ? `summarise ${params.round} ${params.modelId}`
          : `abandon ${nameOf(params.turnId)}`

/** Of a public fact. */
export const factText = (fact: Fact) => {
  const turn = nameOf(fact.turnId)
  switch (fact.type) {
    case "user_message": {
      const input = nameOf(fact.event.inputId)
      return input === turn ? `user(${turn})` : `user(${input}, in ${turn})`
    }
    case "assistant_message":
      return `assistant(${turn})`
    case "tool_result":
      return fact.event.failureCode === undefined ? `result(${turn})` : `result(${turn}: ${fact.event.failureCode})`
    case "wait_resolved":
      return `wait_resolved(${turn}: ${fact.event.waitResult.outcome})`
    case "hook_decision":
      return `hook(${turn}: ${fact.event.hook.index} ${fact.event.hook.decision})`
    case "turn_failed":
      return `turn_failed(${turn}: ${fact.event.failureCode})`
    default:
      return `${fact.type.replace("tool_intent", "intent")}(${turn})`
  }
}
