/**
 * What a schema thread runs: one question after another, each answered, until somebody ends it from outside.
 *
 * S1. It knows nothing of the node: no environment, no settings, no connection; files only until its own code is
 *     loaded.
 * S2. It does not time itself. Whoever asks knows when an answer is late.
 */
import { getHeapStatistics } from "node:v8"
import { parentPort } from "node:worker_threads"
import { answering } from "../judging/answering.ts"
import { Validators } from "./jsonSchema.ts"

/** The JSON texts of a schema and of the value to hold against it; without a value the schema itself is in question. */
export interface SchemaQuestion {
  readonly schema: string
  readonly value?: string
}

export interface SchemaAnswer {
  /** What is wrong with the schema, or with the value; absent where nothing is. */
  readonly problem: string | undefined
}

/** Compiled schemas are given up above it: patterns grow tables while they are used, outside of the heap too. */
const mostBytes = 64 * 1024 * 1024

if (parentPort !== null) {
  const validators = new Validators()

  const judge = ({ schema, value }: SchemaQuestion): SchemaAnswer => {
    const problem = value === undefined ? validators.unusable(schema) : validators.misfit(schema, JSON.parse(value))
    const { external_memory, used_heap_size } = getHeapStatistics()
    if (used_heap_size + external_memory > mostBytes) validators.clear()
    return { problem }
  }
  const first = { type: "object", properties: { text: { type: "string", pattern: "^a+$", format: "uri" } } }
  answering(parentPort, judge, { schema: JSON.stringify(first), value: JSON.stringify({ text: "a:b" }) })
}
