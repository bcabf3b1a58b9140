/** What a thread runs that judges messages by conditions. */
import { parentPort } from "node:worker_threads"
import { answering } from "../judging/answering.ts"
import { type JudgedMessage, type ConditionSays, takenCondition } from "./condition.ts"

export interface ConditionQuestion {
  readonly conditions: ReadonlyArray<string>
  readonly messages: ReadonlyArray<JudgedMessage>
}

/** By condition, then by message. */
export type ConditionAnswer = ReadonlyArray<ReadonlyArray<ConditionSays>>

if (parentPort !== null) {
  const judge = ({ conditions, messages }: ConditionQuestion): ConditionAnswer =>
    conditions.map((source) => {
      const { judge } = takenCondition(source)
      return messages.map(judge)
    })
  answering(parentPort, judge, {
    conditions: [`text.matches("^a+$") && tags.exists(tag, tag == "a")`],
    messages: [{ text: "a", tags: ["a"], data: {}, principal: { type: "api_key", id: "first" }, seq: 1, appendedAt: 0 }]
  })
}
