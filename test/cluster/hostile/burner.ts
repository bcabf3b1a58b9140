/**
 * Uses as much of one core as another process has, stage by stage, and asks nobody anything. Each stage has an equal
 * part of the seconds.
 */
import { setTimeout as sleep } from "node:timers/promises"

export interface BurnerOptions {
  readonly shares: ReadonlyArray<number>
  readonly seconds: number
}

const { seconds, shares }: BurnerOptions = JSON.parse(process.argv[2] ?? "")
const tickMs = 20
console.log("burning")

for (const share of shares) {
  for (const until = performance.now() + (seconds * 1_000) / shares.length; performance.now() < until; ) {
    const tick = performance.now()
    while (performance.now() - tick < Math.min(1, share) * tickMs);
    // Also where it burns all the time, it can be ended.
    await sleep(Math.max(0, tickMs - (performance.now() - tick)))
  }
}
process.exit()
