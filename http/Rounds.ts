/**
 * Which requests begin in which round of the event loop, where several workspaces ask at once: one that asks a thousand
 * things waits for its own, and a neighbour who asks one hardly waits for them.
 *
 * W1. A workspace that alone has asked in the last second begins all at once.
 * W2. Where several have, `perRound` requests begin in one round, each workspace's part of them and one at least. What
 *     else came stands in its workspace's own line, in order; who hangs up leaves it.
 * W3. Nothing waits for time to pass: while anybody stands in line, the event loop goes round without a pause.
 */
import { Effect } from "effect"

/** Begun together, requests share statements; each begun before a neighbour's puts that one off. */
const usualPerRound = 4
/** How long who has asked counts as there: up to twice as long. */
const countedMs = 1_000

export class Rounds {
  private readonly lines = new Map<string, Set<() => void>>()
  /** How many have begun in this round. */
  private readonly begun = new Map<string, number>()
  private asking = new Set<string>()
  private askedBefore = new Set<string>()
  private countedSince = 0
  private isScheduled = false
  private readonly perRound: number
  private readonly now: () => number

  /** `now` in milliseconds, monotonic. */
  constructor(now: () => number = () => performance.now(), perRound = usualPerRound) {
    this.now = now
    this.perRound = perRound
  }

  /** Requests that wait. */
  get size() {
    let size = 0
    for (const line of this.lines.values()) size += line.size
    return size
  }

  /** A request of that workspace has come: what it waits for, or undefined where it may begin. */
  come(workspace: string): Effect.Effect<void> | undefined {
    this.count(workspace)
    if (this.present < 2 && this.lines.size === 0) return undefined
    this.schedule()
    const begun = this.begun.get(workspace) ?? 0
    if (begun < this.each && !this.lines.has(workspace)) {
      this.begun.set(workspace, begun + 1)
      return undefined
    }
    return this.wait(workspace)
  }

  private wait(workspace: string) {
    return Effect.callback<void>((resume) => {
      const line = this.lines.get(workspace) ?? new Set()
      const begin = () => resume(Effect.void)
      this.lines.set(workspace, line.add(begin))
      this.schedule()
      return Effect.sync(() => this.leave(workspace, line, begin))
    })
  }

  private leave(workspace: string, line: Set<() => void>, begin: () => void) {
    line.delete(begin)
    if (line.size === 0 && this.lines.get(workspace) === line) this.lines.delete(workspace)
  }

  /** How many workspaces have asked of late. */
  private get present() {
    return Math.max(this.asking.size, this.askedBefore.size)
  }

  private get each() {
    return Math.max(1, Math.floor(this.perRound / Math.max(1, this.present)))
  }

  private count(workspace: string) {
    const passed = this.now() - this.countedSince
    if (passed > countedMs) {
      this.askedBefore = passed > 2 * countedMs ? new Set() : this.asking
      this.asking = new Set()
      this.countedSince += passed
    }
    this.asking.add(workspace)
  }

  private schedule() {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => this.goRound())
  }

  private goRound() {
    this.isScheduled = false
    this.begun.clear()
    const { each } = this
    for (const [workspace, line] of this.lines) {
      let begun = 0
      for (const begin of line) {
        if (begun++ === each) break
        this.leave(workspace, line, begin)
        begin()
      }
      this.begun.set(workspace, Math.min(begun, each))
    }
    if (this.lines.size > 0) this.schedule()
  }
}
