/**
 * The inside of a thread that judges: one question after another, each answered, until somebody ends it from outside.
 */
import type { MessagePort } from "node:worker_threads"
import { threadCpuMs } from "../threadCpu.ts"
import type { ThreadWord } from "./JudgingThreads.ts"

/** By the clock, on a Node that cannot tell the processor time of a thread. */
let byClockMs = 0
const cpuMs = () => threadCpuMs() ?? byClockMs

/**
 * Answers the questions of `port`. All modules have to be loaded before: from now on the thread reads no file. `first`
 * is judged before the thread says that it is ready: compiling and warming up are then in nobody's time.
 */
export const answering = <Question, Answer>(
  port: MessagePort,
  judge: (question: Question) => Answer,
  first: Question
) => {
  judge(first)
  port.on("message", (question: Question) => {
    const begun = performance.now()
    const answer = judge(question)
    byClockMs += performance.now() - begun
    const word: ThreadWord<Answer> = { cpuMs: cpuMs(), answer }
    port.postMessage(word)
  })
  // What has been compiled by now is all the code there is. A Node before 26 cannot give up what it was allowed.
  if (process.permission !== undefined && "drop" in process.permission) process.permission.drop("fs.read")
  const ready: ThreadWord<Answer> = { cpuMs: cpuMs() }
  port.postMessage(ready)
}
