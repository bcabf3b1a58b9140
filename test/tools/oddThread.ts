/** A thread as schema threads are, but for questions that end it, or that ask what it can see. */
import { readFileSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import type { ThreadWord } from "../../src/judging/JudgingThreads.ts"
import type { SchemaAnswer, SchemaQuestion } from "../../src/tools/schemaThread.ts"

const reading = (path: string) => {
  try {
    return readFileSync(path, "utf8").length
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : "?"
  }
}

/** As code would that a schema has smuggled in. */
const spawning = async () => {
  try {
    const { spawnSync } = await new Function("return import('node:child_process')")()
    return typeof spawnSync("true").status
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : "?"
  }
}

/** The error's code of whatever a module of Node's can be made to do. */
const attempted = async (work: () => Promise<unknown>) => {
  try {
    await work()
    return "done"
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : "?"
  }
}
const node = (name: string) => new Function("name", "return import(name)")(`node:${name}`)
const connected = attempted(async () => {
  const { connect } = await node("net")
  return new Promise((resolve, reject) => connect(9, "127.0.0.1").once("connect", resolve).once("error", reject))
})
const threaded = attempted(async () => {
  const { Worker } = await node("worker_threads")
  new Worker("", { eval: true })
})

const [spawned, reached, begun] = await Promise.all([spawning(), connected, threaded])
let answered = 0

parentPort?.on("message", ({ schema }: SchemaQuestion) => {
  if (schema === `{"title":"always dies"}`) process.exit(1)
  if (schema === `{"title":"dies of old age"}` && answered > 0) process.exit(1)
  if (schema === `{"title":"looks around"}`) {
    const seen = {
      env: Object.keys(process.env),
      argv: process.argv.slice(2),
      environ: reading("/proc/self/environ"),
      file: reading(import.meta.filename),
      spawned,
      reached,
      begun
    }
    const word: ThreadWord<SchemaAnswer> = { cpuMs: 0, answer: { problem: JSON.stringify(seen) } }
    parentPort?.postMessage(word)
  }
  answered++
})

await import("../../src/tools/schemaThread.ts")
