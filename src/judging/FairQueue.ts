/**
 * Work that waits, by workspace: in order within one, by turns between them, and each within a budget of processor
 * time.
 *
 * F1. A workspace has one piece of work under way at most: a late one holds up nobody else's.
 * F2. A workspace may spend its budget at once, and gets it back over the window. Work starts while something of the
 *     budget is left; what it takes beyond that is a debt, and delays what comes next.
 * F3. What is kept of a workspace is forgotten once nothing of it waits and its budget is whole.
 */

export interface Allowance {
  /** Milliseconds of processor time in a window, all of it at once if need be. */
  readonly ms: number
  readonly windowMs: number
}

interface Account {
  /** Milliseconds that are left of the budget; below zero is debt. */
  left: number
  /** When that was so. */
  at: number
  busy: boolean
}

/** Accounts that are looked through for those to forget (F3). */
const manyAccounts = 1_000

/** Times are milliseconds of one clock that never goes back. */
export class FairQueue<Work> {
  private readonly budget: Allowance
  private readonly accounts = new Map<string, Account>()
  /** Those with work in line; whose turn comes first stands first. */
  private readonly lines = new Map<string, Array<Work>>()
  private waiting = 0

  constructor(budget: Allowance) {
    this.budget = budget
  }

  /** How much waits. */
  get size() {
    return this.waiting
  }

  add(workspace: string, work: Work) {
    const line = this.lines.get(workspace)
    if (line === undefined) this.lines.set(workspace, [work])
    else line.push(work)
    this.waiting++
  }

  /** Work that was under way and has to be done again: before all else of its workspace. */
  addAgain(workspace: string, work: Work) {
    this.lines.set(workspace, [work, ...(this.lines.get(workspace) ?? [])])
    this.waiting++
  }

  /** Takes work out of the line; false where it does not wait. */
  remove(workspace: string, work: Work) {
    const line = this.lines.get(workspace) ?? []
    const at = line.indexOf(work)
    if (at < 0) return false
    line.splice(at, 1)
    if (line.length === 0) this.lines.delete(workspace)
    this.waiting--
    return true
  }

  /** Empties the line. */
  clear(): Array<Work> {
    const all = [...this.lines.values()].flat()
    this.lines.clear()
    this.waiting = 0
    return all
  }

  /** The work whose turn it is; its workspace is busy until `done`. */
  next(now: number): Work | undefined {
    for (const [workspace, line] of this.lines) {
      const account = this.account(workspace, now)
      if (account.busy || account.left <= 0) continue
      account.busy = true
      this.lines.delete(workspace)
      const work = line.shift()
      if (line.length > 0) this.lines.set(workspace, line)
      this.waiting--
      return work
    }
    return undefined
  }

  /** Milliseconds until work may start that waits for nothing but its budget; undefined where there is none. */
  pauseMs(now: number): number | undefined {
    let least: number | undefined
    for (const workspace of this.lines.keys()) {
      const { busy, left } = this.account(workspace, now)
      if (busy) continue
      const ms = left > 0 ? 0 : (-left / this.budget.ms) * this.budget.windowMs + 1
      least = Math.min(ms, least ?? ms)
    }
    return least
  }

  /** What a workspace had under way is over, and has taken so many milliseconds. */
  done(workspace: string, ms: number, now: number) {
    const account = this.account(workspace, now)
    account.busy = false
    account.left -= ms
  }

  private account(workspace: string, now: number): Account {
    const { ms, windowMs } = this.budget
    const held = this.accounts.get(workspace)
    if (held !== undefined) {
      held.left = Math.min(ms, held.left + ((now - held.at) / windowMs) * ms)
      held.at = now
      return held
    }
    const account: Account = { left: ms, at: now, busy: false }
    if (this.accounts.size >= manyAccounts) this.forget(now)
    this.accounts.set(workspace, account)
    return account
  }

  private forget(now: number) {
    for (const [workspace, { at, busy, left }] of this.accounts) {
      const whole = left + ((now - at) / this.budget.windowMs) * this.budget.ms >= this.budget.ms
      if (whole && !busy && !this.lines.has(workspace)) this.accounts.delete(workspace)
    }
  }
}
