/** What a thread that was taken over in the middle of a turn has to do again. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import { jobOf } from "../../machines/thread/calls.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { judgingJob } from "../../machines/thread/judging.ts"

/** A job of the chart, or the report that nobody knows how a call ended. */
export type ThreadJob = Job | { readonly type: "reportLost"; readonly params: { readonly turnId: string; readonly toolCallId: string } }

export const again = ({ context: { turn }, value }: Snapshot): ReadonlyArray<ThreadJob> => {
  if (turn === null || typeof value === "string") return []
  const { attempt, calls, plan, step, target, turnId } = turn
  switch (value.running) {
    case "sampling":
      return [{ type: "sample", params: { turnId, step, attempt, modelId: plan.models[target] ?? "" } }]
    case "opening":
    case "reviewing": {
      const job = judgingJob(turn)
      return job === undefined ? [] : [job]
    }
    case "acting":
      return calls.filter((call) => call.phase === "running").map((call): ThreadJob => jobOf(turn, call))
    default:
      // A pause ends with its due moment.
      return []
  }
}
