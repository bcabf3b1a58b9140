/**
 * Which requests begin in which round of the event loop, where several workspaces ask at once. A workspace with a
 * thousand requests waits behind its own; a neighbour's single request does not wait behind them.
 *
 * W1. A workspace is present for one to two seconds after its latest request. The requests of one that is present alone
 *     begin at once.
 * W2. Where several are present, each begins its share of `perRound` requests in a round, rounded down, and at least
 *     one. A share that its workspace does not use is nobody else's.
 * W3. Further requests stand in their workspace's line, in the order in which they came; one that is interrupted leaves
 *     it. Nothing waits for time to pass: while anybody stands in line, the event loop goes round without a pause.
 */
import { Effect } from "effect"

/** More in a round share statements better, and delay a neighbour's request by as many. */
const usualPerRound = 4
/** Milliseconds for which a workspace counts as present after a request, at least; twice that at most. */
const presentMs = 1_000

export class Rounds {
  private readonly lines = new Map<string, Set<() => void>>()
  /** How many requests of each workspace have begun in this round. */
  private readonly begun = new Map<string, number>()
  /** Workspaces that have asked in the second before this one, and in this one. */
  private earlier: ReadonlySet<string> = new Set()
  private asking = new Set<string>()
  /** How many of the latter are not among the former. */
  private newcomers = 0
  /** When this second began. */
  private since = 0
  private isScheduled = false
  private readonly perRound: number
  private readonly now: () => number

  /** `now` in milliseconds, monotonic. */
  constructor(now: () => number = () => performance.now(), perRound = usualPerRound) {
    this.now = now
    this.perRound = perRound
  }

  /**
   * A request of that workspace has come: undefined where it may begin, or else what it waits for. It stands in line
   * from the moment at which the effect runs.
   */
  come(workspace: string): Effect.Effect<void> | undefined {
    this.note(workspace)
    if (this.present === 1 && this.lines.size === 0) return undefined
    this.schedule()
    const begun = this.begun.get(workspace) ?? 0
    if (begun < this.share && !this.lines.has(workspace)) {
      this.begun.set(workspace, begun + 1)
      return undefined
    }
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

  /** How many workspaces are present. */
  private get present() {
    return this.earlier.size + this.newcomers
  }

  /** How many requests of a workspace begin in a round (W1, W2). */
  private get share() {
    return this.present < 2 ? Infinity : Math.max(1, Math.floor(this.perRound / this.present))
  }

  /** W1. */
  private age() {
    const passed = this.now() - this.since
    if (passed < presentMs) return
    const isNext = passed < 2 * presentMs
    this.earlier = isNext ? this.asking : new Set()
    this.since += isNext ? presentMs : passed
    this.asking = new Set()
    this.newcomers = 0
  }

  private note(workspace: string) {
    this.age()
    if (this.asking.has(workspace)) return
    this.asking.add(workspace)
    if (!this.earlier.has(workspace)) this.newcomers++
  }

  private schedule() {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => this.goRound())
  }

  private goRound() {
    this.isScheduled = false
    this.begun.clear()
    this.age()
    const { share } = this
    // Whoever begins may come again at once: that is for the next round.
    for (const [workspace, line] of [...this.lines]) {
      const most = Math.min(share, line.size)
      let begun = 0
      for (const begin of line) {
        if (begun === most) break
        this.begun.set(workspace, ++begun)
        this.leave(workspace, line, begin)
        begin()
      }
    }
    // What has begun in this round counts until the next one.
    if (this.begun.size > 0) this.schedule()
  }
}
