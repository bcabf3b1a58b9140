/** What a thread that was taken over in the middle of a turn has to do again. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Job } from "../../machines/thread/draft.ts"

/** A job of the chart, or the report that nobody knows how a call ended. */
export type ThreadJob = Job | { readonly type: "reportLost"; readonly params: { readonly turnId: string; readonly toolCallId: string } }

export const again = ({ context: { turn }, value }: Snapshot): ReadonlyArray<ThreadJob> => {
  if (turn === null || typeof value === "string") return []
  const { attempt, plan, step, target, turnId } = turn
  switch (value.running) {
    case "sampling":
      return [{ type: "sample", params: { turnId, step, attempt, modelId: plan.models[target] ?? "" } }]
    case "acting":
      return turn.calls.filter((call) => call.phase === "running").map(({ input, name, rerunnable, toolCallId }): ThreadJob =>
        rerunnable
          ? { type: "runTool", params: { turnId, toolCallId, name, input } }
          : { type: "reportLost", params: { turnId, toolCallId } })
    default:
      // A pause ends with its due moment.
      return []
  }
}
