/**
 * An actor's desk: a task for each job that this node has started for it, until the actor has taken the outcome.
 *
 * The desk outlives the actor's stay in memory: an actor that is lost because the journal did not answer finds, once it
 * is back, which jobs still run and the outcomes of the rest. `Jobs.ts` says what becomes of the tasks.
 */
import type { Fiber } from "effect"
import type { WaitingFor } from "../src/domain/thread.ts"
import type { Place, Seat } from "./Bulkheads.ts"

/**
 * `running`, and perhaps not begun, since it stands in line, or something that it needs cannot be read yet; `done`, its
 * outcome in hand; `told`, the outcome in the actor's mailbox or in its append; or `cut` off in the midst: it may have
 * taken effect.
 */
export type Task<Request> =
  | {
      readonly state: "running"
      readonly fiber: Fiber.Fiber<Request | undefined>
      readonly place: Place
      readonly repeatable: boolean
    }
  | { readonly state: "done" | "told"; readonly outcome: Request }
  | { readonly state: "cut" }

export class Desk<Request> {
  readonly actorId: string
  readonly tasks = new Map<string, Task<Request>>()
  /** Outcomes wait for those of other jobs. */
  gathering = false
  /** What its jobs have of the workspace's slots; absent until the first job. */
  seat: Seat | undefined

  constructor(actorId: string) {
    this.actorId = actorId
  }

  get isClear() {
    return this.tasks.size === 0
  }

  get running() {
    let running = 0
    for (const { state } of this.tasks.values()) if (state === "running") running++
    return running
  }

  /** Outcomes are in hand, or told and not taken yet. */
  get hasOutcomes() {
    for (const { state } of this.tasks.values()) if (state === "done" || state === "told") return true
    return false
  }

  /** What its jobs stand in line for, if any does. */
  get waitingFor(): WaitingFor | undefined {
    return this.seat?.waitingFor
  }

  /**
   * How many of the milliseconds since the running time of a turn began it stood in line, with none of its jobs
   * running.
   */
  queuedMs(since: number) {
    return this.seat?.queuedMs(since) ?? 0
  }

  /** Ends a task of which the actor's log says that nobody wants it: its job is stopped, its outcome forgotten. */
  end(name: string) {
    const task = this.tasks.get(name)
    if (task?.state === "running") task.place.isOver = true
    this.forget(name)
  }

  /** Ends every task whose name begins so. */
  endAll(prefix = "") {
    for (const name of this.tasks.keys()) if (name.startsWith(prefix)) this.end(name)
  }

  /** Stops what runs and forgets all: what is to be done yet, somebody else does. */
  clear() {
    for (const name of this.tasks.keys()) this.forget(name)
  }

  /** Ends what stands in line and can as well be done elsewhere. */
  withhold() {
    for (const [name, task] of this.tasks)
      if (task.state === "running" && task.repeatable && task.place.isWaiting) this.forget(name)
  }

  /** Aborts what runs, and forgets what has not begun; outcomes in hand stay. */
  cutOff() {
    for (const [name, task] of this.tasks) {
      if (task.state !== "running") continue
      if (task.place.hasBegun) this.tasks.set(name, { state: "cut" })
      else this.tasks.delete(name)
      task.fiber.interruptUnsafe()
    }
  }

  /** Outcomes in hand, by the names of their jobs; they count as told from now on. */
  handOver(): ReadonlyArray<readonly [name: string, outcome: Request]> {
    const handed: Array<readonly [string, Request]> = []
    for (const [name, task] of this.tasks) {
      if (task.state !== "done") continue
      this.tasks.set(name, { state: "told", outcome: task.outcome })
      handed.push([name, task.outcome])
    }
    return handed
  }

  /** An outcome that was told and not taken is in hand again. */
  takeBack(name: string) {
    const task = this.tasks.get(name)
    if (task?.state === "told") this.tasks.set(name, { state: "done", outcome: task.outcome })
  }

  /** An outcome was taken. */
  taken(name: string) {
    if (this.tasks.get(name)?.state === "told") this.tasks.delete(name)
  }

  private forget(name: string) {
    const task = this.tasks.get(name)
    this.tasks.delete(name)
    if (task?.state === "running") task.fiber.interruptUnsafe()
  }
}
