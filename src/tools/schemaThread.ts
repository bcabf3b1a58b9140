/**
 * What a schema thread runs: one question after another, each answered, until somebody ends it from outside.
 *
 * S1. It knows nothing of the node: no environment, no settings, no connection; files only until its own code is
 *     loaded.
 * S2. It does not time itself. Whoever asks knows when an answer is late.
 */
import { getHeapStatistics } from "node:v8"
import { parentPort } from "node:worker_threads"
import { Validators } from "./jsonSchema.ts"

/** The JSON texts of a schema and of the value to hold against it; without a value the schema itself is in question. */
export interface SchemaQuestion {
  readonly schema: string
  readonly value?: string
}

export interface SchemaAnswer {
  /** What is wrong with the schema, or with the value; absent where nothing is. */
  readonly problem?: string
  /** Processor time of this thread since it began, in milliseconds. */
  readonly cpuMs: number
}

/** Compiled schemas are given up above it: patterns grow tables while they are used, outside of the heap too. */
const mostBytes = 64 * 1024 * 1024

/** By the clock, on a Node that cannot tell the processor time of a thread (before 24). */
let byClockMs = 0
const cpuMs = () => {
  if (!("threadCpuUsage" in process)) return byClockMs
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

if (parentPort !== null) {
  const port = parentPort
  const validators = new Validators()

  port.on("message", ({ schema, value }: SchemaQuestion) => {
    const begun = performance.now()
    const problem = value === undefined ? validators.unusable(schema) : validators.misfit(schema, JSON.parse(value))
    byClockMs += performance.now() - begun
    const { external_memory, used_heap_size } = getHeapStatistics()
    if (used_heap_size + external_memory > mostBytes) validators.clear()
    const answer: SchemaAnswer = { cpuMs: cpuMs(), ...(problem === undefined ? {} : { problem }) }
    port.postMessage(answer)
  })
  // What has been compiled by now is all the code there is. A Node before 26 cannot give up what it was allowed.
  if ("drop" in process.permission) process.permission.drop("fs.read")
  const ready: SchemaAnswer = { cpuMs: cpuMs() }
  port.postMessage(ready)
}
