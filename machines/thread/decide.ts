/** Decides one command of a thread: the next snapshot, the facts to journal, the jobs to perform. Pure. */
import { initialTransition } from "xstate"
import type { ThreadStatus } from "../../src/domain/thread.ts"
import { makeDecide } from "../step.ts"
import { chart, type Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import type { Job } from "./draft.ts"
import type { Fact } from "./facts.ts"

export const start = (): Snapshot => initialTransition(chart)[0]

const jobTypes: ReadonlySet<Job["type"]> = new Set(["sample", "runTool", "askHook", "summarise", "abandon"])

export const decide = makeDecide<Snapshot, Command, Fact, Job>(chart, jobTypes)

export type Step = ReturnType<typeof decide>

/** The top state: never a second field. */
export const statusOf = ({ value }: Snapshot): ThreadStatus => {
  if (typeof value === "string") return value
  return "running" in value ? "running" : "awaiting"
}
