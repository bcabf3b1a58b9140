/** The jobs that a state implies: a thread that was taken over in the middle of a turn is resumed with them. */
import { jobOf } from "./calls.ts"
import { hasPlace } from "./callState.ts"
import type { Snapshot } from "./chart.ts"
import { summaryJob } from "./compaction.ts"
import type { Job } from "./draft.ts"
import { judgingJob } from "./judging.ts"
import { sampleJob } from "./turn.ts"

export const resume = ({ context: { turn }, value }: Snapshot): ReadonlyArray<Job> => {
  // What is awaited comes by itself.
  if (turn === null || typeof value === "string" || !("running" in value)) return []
  switch (value.running) {
    case "sampling":
      return [sampleJob(turn)]
    case "compacting": {
      const job = summaryJob(turn)
      return job === undefined ? [] : [job]
    }
    case "opening":
    case "reviewing": {
      const job = judgingJob(turn)
      return job === undefined ? [] : [job]
    }
    case "acting":
      return turn.calls.filter(hasPlace).map((call) => jobOf(turn, call))
    default:
      // A pause ends with its due moment.
      return []
  }
}
