/** Every chart that runs, by what it is of. */
import type { AnyStateMachine } from "xstate"
import type { ChartKind } from "../src/domain/chartKinds.ts"
import { chart as identity } from "./identity/chart.ts"
import { chart as schedule } from "./schedule/chart.ts"
import { chart as subscription } from "./subscription/chart.ts"
import { callChart, hooksChart } from "./thread/callChart.ts"
import { chart as thread } from "./thread/chart.ts"

export const charts: Readonly<Record<ChartKind, AnyStateMachine>> = {
  thread,
  call: callChart,
  hooks: hooksChart,
  identity,
  schedule,
  subscription
}
