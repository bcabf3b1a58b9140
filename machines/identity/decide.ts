/** Decides one command of an identity: the next snapshot and the facts. An identity has no jobs. Pure. */
import { initialTransition } from "xstate"
import { makeDecide } from "../step.ts"
import { chart, type Command, type Fact, type Snapshot } from "./chart.ts"

export const start = (): Snapshot => initialTransition(chart)[0]

export const decide = makeDecide<Snapshot, Command, Fact, never>(chart, new Set())
