/**
 * Runs what strangers have written (schemas, patterns) for a limited time on the event loop.
 *
 * K1. What is not done by then is stopped in the middle, wherever it is: what it was writing to must be thrown away.
 * K2. It costs about a quarter of a millisecond, so what is known to be short goes without it.
 */
import { createContext, Script } from "node:vm"

export class TooSlow extends Error {
  /** The time went by without it: the machine was busy with others. */
  readonly starved: boolean
  constructor(ms: number, cpuMs: number) {
    super(`took longer than ${ms} ms`)
    this.starved = cpuMs < ms * 0.8
  }
}

const box: { run: () => void } = { run: () => {} }
const context = createContext(box)
const script = new Script("run()")

// Of the context's own Error, not of ours.
const isTimeout = (error: unknown) => typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

/** The result of `work`; throws TooSlow where it takes longer than `ms`. */
export const within = <A>(ms: number, work: () => A): A => {
  let done: { readonly value: A } | undefined
  const before = process.threadCpuUsage()
  const tooSlow = () => {
    const { system, user } = process.threadCpuUsage(before)
    return new TooSlow(ms, (system + user) / 1000)
  }
  box.run = () => { done = { value: work() } }
  try {
    script.runInContext(context, { timeout: ms })
  } catch (error) {
    throw isTimeout(error) ? tooSlow() : error
  } finally {
    box.run = () => {}
  }
  if (done === undefined) throw tooSlow()
  return done.value
}
