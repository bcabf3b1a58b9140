/** Decides one command of a schedule: the next snapshot, the facts, the jobs. Pure. */
import { initialTransition } from "xstate"
import { makeDecide } from "../step.ts"
import type { Job } from "./changes.ts"
import { chart, type Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import type { Fact } from "./facts.ts"

export const start = (): Snapshot => initialTransition(chart)[0]

export const decide = makeDecide<Snapshot, Command, Fact, Job>(
  chart,
  new Set<Job["type"]>(["start", "watch", "unwatch"])
)
