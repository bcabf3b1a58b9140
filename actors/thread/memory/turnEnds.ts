/** Ends of turns on this node, for whoever waits for one: a hint, the log is the truth. */
export class TurnEnds {
  private readonly waiting = new Map<string, Set<() => void>>()

  over(turnId: string) {
    const tellers = this.waiting.get(turnId)
    if (tellers === undefined) return
    this.waiting.delete(turnId)
    for (const tell of tellers) tell()
  }

  /** Tells once. Gives what takes the wish back. */
  await(turnId: string, tell: () => void) {
    const tellers = this.waiting.get(turnId) ?? new Set()
    this.waiting.set(turnId, tellers.add(tell))
    return () => {
      if (tellers.delete(tell) && tellers.size === 0 && this.waiting.get(turnId) === tellers)
        this.waiting.delete(turnId)
    }
  }
}
