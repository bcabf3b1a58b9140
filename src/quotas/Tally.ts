/**
 * One node's knowledge of the sums of each workspace: what the database has told, and what it has counted itself since.
 * Plain arithmetic in memory; `Quotas.ts` carries amounts to the database and back.
 *
 * A1. Each amount is in exactly one of four places: unwritten, written but not read back, in a minute that was read as
 *     open, in the sums of minutes that are over. Their sum is what is used.
 */
import type { Gathered } from "./quota.ts"
import type { Amount, Closed } from "./tallies.ts"

type Amounts = Record<Gathered, number>

const none = (): Amounts => ({ stored_bytes: 0, threads: 0 })

const hours = 24
const hourSeconds = 3_600

interface Entry {
  closed: Amounts
  /** The closed bytes by hour of the window. */
  byHour: ReadonlyArray<number>
  /** The first minute that is not in the closed sums; undefined before they were read. */
  since: number | undefined
  /** Rounds since the closed sums were read. */
  age: number
  open: Amounts
  unread: Amounts
  unwritten: Amounts
  /** Rounds since anybody asked or counted. */
  idle: number
}

/**
 * Rounds of a second: minutes that are over are summed again after so many, a workspace at rest is looked at and then
 * held for so many.
 */
const closedRounds = 60
const watchedRounds = 10
const heldRounds = 600

const names = ["stored_bytes", "threads"] as const satisfies ReadonlyArray<Gathered>

export class Tally {
  readonly #entries = new Map<string, Entry>()

  #entry(workspace: string): Entry {
    let entry = this.#entries.get(workspace)
    if (entry === undefined) {
      entry = {
        closed: none(),
        byHour: [],
        since: undefined,
        age: 0,
        open: none(),
        unread: none(),
        unwritten: none(),
        idle: 0
      }
      this.#entries.set(workspace, entry)
    }
    entry.idle = 0
    return entry
  }

  add(workspace: string, resource: Gathered, amount: number) {
    this.#entry(workspace).unwritten[resource] += amount
  }

  used(workspace: string, resource: Gathered) {
    const { closed, open, unread, unwritten } = this.#entry(workspace)
    return closed[resource] + open[resource] + unread[resource] + unwritten[resource]
  }

  /** Seconds until so many bytes have left the window: by the hour, never too few. */
  freeAfter(workspace: string, bytes: number) {
    let left = bytes
    for (const [hour, amount] of this.#entry(workspace).byHour.entries()) {
      left -= amount
      if (left <= 0) return (hour + 1) * hourSeconds
    }
    return hours * hourSeconds
  }

  /** A round begins: whom nobody has asked about for long is forgotten. */
  turn() {
    for (const [workspace, entry] of this.#entries) {
      entry.age++
      entry.idle++
      if (entry.idle > heldRounds && names.every((name) => entry.unwritten[name] === 0 && entry.unread[name] === 0))
        this.#entries.delete(workspace)
    }
  }

  /** What is to be written; it counts as unwritten until `written`. */
  unwritten(): ReadonlyArray<Amount> {
    const amounts: Array<Amount> = []
    for (const [workspace, { unwritten }] of this.#entries) {
      for (const resource of names)
        if (unwritten[resource] !== 0) amounts.push({ workspace, resource, amount: unwritten[resource] })
    }
    return amounts
  }

  written(amounts: ReadonlyArray<Amount>) {
    for (const { amount, resource, workspace } of amounts) {
      const entry = this.#entries.get(workspace)
      if (entry === undefined) continue
      entry.unwritten[resource] -= amount
      entry.unread[resource] += amount
    }
  }

  /** Workspaces that somebody asks about, and whose closed sums are old. */
  stale(): ReadonlyArray<string> {
    return [...this.#entries].flatMap(([workspace, { age, idle, since }]) =>
      idle <= watchedRounds && (since === undefined || age >= closedRounds) ? [workspace] : []
    )
  }

  /** Workspaces that somebody asks about, or that owe a reading back, and from which minute on they want to be read. */
  watched(): ReadonlyArray<{ readonly workspace: string; readonly since: number }> {
    return [...this.#entries].flatMap(([workspace, { idle, since, unread }]) =>
      since !== undefined && (idle <= watchedRounds || names.some((name) => unread[name] !== 0))
        ? [{ workspace, since }]
        : []
    )
  }

  closed(sums: ReadonlyArray<Closed>) {
    for (const { amounts, until, workspace } of sums) {
      const entry = this.#entries.get(workspace)
      if (entry === undefined) continue
      const byHour = new Array<number>(hours).fill(0)
      entry.closed = none()
      for (const { amount, hour, resource } of amounts) {
        entry.closed[resource] += amount
        if (resource === "stored_bytes") byHour[hour] = (byHour[hour] ?? 0) + amount
      }
      entry.byHour = byHour
      entry.since = until
      entry.age = 0
    }
  }

  /** The open minutes of these workspaces, read after everything written so far was committed. */
  opened(workspaces: ReadonlyArray<string>, amounts: ReadonlyArray<Amount>) {
    const found = Map.groupBy(amounts, ({ workspace }) => workspace)
    for (const workspace of workspaces) {
      const entry = this.#entries.get(workspace)
      if (entry === undefined) continue
      entry.open = none()
      entry.unread = none()
      for (const { amount, resource } of found.get(workspace) ?? []) entry.open[resource] = amount
    }
  }
}
