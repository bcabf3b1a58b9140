/**
 * Uses as much CPU as another process has, stage by stage, and asks nobody anything. Each stage has an equal part of
 * the seconds. A second thread burns the part of a share above 1; more than 2 is not reached.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { isMainThread, Worker, workerData } from "node:worker_threads"
import { threadCpuMs } from "../../../src/threadCpu.ts"

export interface BurnerOptions {
  /** Of each stage: 1.3 is one core and three tenths of another. */
  readonly shares: ReadonlyArray<number>
  /** Of all stages together. */
  readonly seconds: number
}

const tickMs = 20

const usedMs = () => {
  const used = threadCpuMs()
  if (used === undefined) throw new Error("this Node cannot tell what a thread has used")
  return used
}

/** By the CPU that it has had, not by the clock: a burner that waits for a core burns on when it has one. */
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
