/** Every fault that this machine can make, each with its bars and with a probe that sees it happen. */
import type { Fault } from "./experiment.ts"
import { clockJump, databaseClock } from "./faults/clocks.ts"
import { herd } from "./faults/herd.ts"
import { hostile } from "./faults/hostile.ts"
import { natsCut, natsDown } from "./faults/nats.ts"
import { crashLoop, join, kill, rolling, rollingUnderFullLoad, shortStop, stop, term } from "./faults/nodes.ts"
import { providerTrouble, toolServerGone } from "./faults/outside.ts"
import {
  commitsHang,
  cut,
  diskFull,
  halfOpen,
  lateAfterReset,
  lateAppend,
  lostWriter,
  oneWay,
  readsHang,
  resets,
  restartPostgres,
  slow,
  stuckWriter
} from "./faults/postgres.ts"
import { watchers } from "./faults/watchers.ts"

/** Both at once. */
const together = (a: Fault, b: Fault): Fault => ({
  name: `${a.name}, and at the same time: ${b.name}`,
  bar: "no violation",
  inject: async (scene) => {
    const judges = await Promise.all([a.inject(scene), b.inject(scene)])
    return async (run) => {
      const found = await Promise.all(judges.map((judge) => judge(run)))
      return {
        gaps: [],
        figures: [],
        observed: found.some(({ observed }) => observed === undefined)
          ? undefined
          : found.map(({ observed }) => observed).join("; ")
      }
    }
  }
})

/** The longest first: what it misses is known early. */
export const faults: ReadonlyArray<Fault> = [
  hostile,
  kill,
  stop,
  shortStop,
  term,
  rolling,
  rollingUnderFullLoad,
  restartPostgres("SIGKILL", "PostgreSQL killed (SIGKILL) and started again"),
  restartPostgres("SIGQUIT", "PostgreSQL restarted at once (immediate shutdown)"),
  cut,
  oneWay,
  stuckWriter,
  lateAppend,
  halfOpen,
  resets,
  lateAfterReset,
  slow,
  commitsHang,
  readsHang,
  natsDown,
  natsCut,
  join,
  clockJump,
  crashLoop,
  providerTrouble,
  toolServerGone,
  watchers,
  together(kill, resets),
  together(stop, natsDown),
  together(lostWriter, readsHang),
  together(slow, resets),
  databaseClock,
  diskFull,
  herd
]
