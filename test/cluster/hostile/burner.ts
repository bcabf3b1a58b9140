/**
 * Uses as much CPU as another process has, stage by stage, and asks nobody anything. Each stage has an equal part of
 * the seconds. What is more than one core is burned by a second thread, as the other's was used by more than one.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { isMainThread, Worker, workerData } from "node:worker_threads"
import { threadCpuMs } from "../../../src/threadCpu.ts"

export interface BurnerOptions {
  /** Of one core. */
  readonly shares: ReadonlyArray<number>
  readonly seconds: number
}

const tickMs = 20

/** The clock where Node cannot tell what a thread has used. */
const usedMs = () => threadCpuMs() ?? performance.now()

/** By the CPU that it has had, not by the clock: one that waits for a core burns on when it has it. */
const burn = async ({ seconds, shares }: BurnerOptions) => {
  for (const share of shares) {
    const began = performance.now()
    const used = usedMs()
    for (const until = began + (seconds * 1_000) / shares.length; performance.now() < until; await sleep(tickMs))
      while (usedMs() - used < (performance.now() - began) * share && performance.now() < until);
  }
}

if (isMainThread) {
  const { seconds, shares }: BurnerOptions = JSON.parse(process.argv[2] ?? "")
  const second: BurnerOptions = { seconds, shares: shares.map((share) => Math.max(0, share - 1)) }
  const worker = new Worker(import.meta.filename, { workerData: second })
  console.log("burning")
  await burn({ seconds, shares: shares.map((share) => Math.min(1, share)) })
  await worker.terminate()
} else await burn(workerData)
