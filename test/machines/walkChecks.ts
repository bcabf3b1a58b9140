/** What holds of a step of a thread: which command is the outcome of which job, and that XState comes to the same. */
import { assert } from "@effect/vitest"
import { type ExecutableActionObject, transition } from "xstate"
import type { Command } from "../../machines/thread/commands.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { isAsked } from "../../machines/thread/judging.ts"
import type { Step } from "../../machines/thread/decide.ts"
import { plainSnapshot } from "../../machines/thread/fold.ts"
import { chart, type Snapshot } from "../../machines/thread/chart.ts"

/** The command is this job's outcome, whatever it says. */
export const answers = (command: Command, job: Job, { context: { turn } }: Snapshot) => {
  switch (job.type) {
    case "summarise":
      return (
        (command.type === "summary.made" || command.type === "summary.failed") &&
        command.turnId === job.params.turnId &&
        command.step === job.params.step &&
        command.round === job.params.round
      )
    case "sample":
      return (
        (command.type === "model.replied" || command.type === "model.failed" || command.type === "prompt.long") &&
        command.turnId === job.params.turnId &&
        command.step === job.params.step &&
        command.attempt === job.params.attempt &&
        command.modelId === turn?.plan.models[job.params.target]
      )
    case "askHook":
      return (
        command.type === "hook.decided" &&
        turn !== null &&
        isAsked(turn, command) &&
        command.index === job.params.index &&
        command.point === job.params.data.point &&
        command.toolCallId === ("toolCallId" in job.params.data ? job.params.data.toolCallId : undefined)
      )
    case "runTool":
      return command.type === "tool.returned" && command.toolCallId === job.params.toolCallId
    case "abandon":
      return false
  }
}

/** `decide` brings a scope of its own to the chart: XState's `transition` must come to the same. */
export const asXState = (before: Snapshot, command: Command, { facts, jobs, next }: Step) => {
  const [after, found] = transition(chart, before, command)
  const actions: ReadonlyArray<ExecutableActionObject> = found
  assert.deepStrictEqual(plainSnapshot(next), plainSnapshot(after))
  assert.strictEqual(facts.length + jobs.length, actions.length)
  assert.deepStrictEqual(
    jobs.map(({ params }) => params),
    actions.flatMap(({ params, type }) => (type === "xstate.emit" ? [] : [params]))
  )
}
