/** Decides one command of a subscription: the next snapshot, the facts, the jobs to perform. Pure. */
import { initialTransition } from "xstate"
import { makeDecide } from "../step.ts"
import { chart, type Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import type { Job } from "./draft.ts"
import type { Fact } from "./facts.ts"

export const start = (): Snapshot => initialTransition(chart)[0]

const jobTypes: ReadonlySet<Job["type"]> = new Set(["enlist", "evaluate", "submit", "abandon"])

export const decide = makeDecide<Snapshot, Command, Fact, Job>(chart, jobTypes)
