/**
 * A room that many share, and the line before it: what they hold together stays below a cap, and who finds no room
 * waits.
 *
 * C1. Waiters are let in by order of coming, however small the next ones are; a waiter that is larger than the cap goes
 *     in alone. Those that go first have a line of their own, which is let in before the other.
 * C2. A waiter that leaves, in the line or inside, leaves no trace.
 */

export interface Guest {
  readonly size: number
  /** It is inside from now on. May leave again, or have others leave, before it returns. */
  readonly admit: () => void
}

export class Line<G extends Guest> {
  private held = 0
  private isAdvancing = false
  private readonly first = new Set<G>()
  private readonly others = new Set<G>()
  private readonly cap: number

  constructor(cap: number) {
    this.cap = cap
  }

  /** What those inside hold. */
  get used() {
    return this.held
  }

  get waiting() {
    return this.first.size + this.others.size
  }

  /** Whether the guest is inside at once; if not, it waits. */
  come(guest: G, isFirst = false): boolean {
    if (this.first.size === 0 && (isFirst || this.others.size === 0) && this.fits(guest)) {
      this.held += guest.size
      return true
    }
    const line = isFirst ? this.first : this.others
    line.add(guest)
    return false
  }

  /** A guest that was inside goes. */
  leave({ size }: G) {
    this.held -= size
    this.advance()
  }

  /** A guest that waits goes. */
  withdraw(guest: G) {
    if (!this.first.delete(guest)) this.others.delete(guest)
    this.advance()
  }

  private fits({ size }: G) {
    return this.held === 0 || this.held + size <= this.cap
  }

  private advance() {
    // Whom a guest lets in by leaving at once is let in here, not within its own admission: the stack would grow with
    // the line.
    if (this.isAdvancing || this.waiting === 0) return
    this.isAdvancing = true
    for (;;) {
      const line = this.first.size > 0 ? this.first : this.others
      const [next] = line
      if (next === undefined || !this.fits(next)) break
      line.delete(next)
      this.held += next.size
      next.admit()
    }
    this.isAdvancing = false
  }
}
