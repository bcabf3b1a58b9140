/** Ends of turns on this node, for whoever waits for one: a hint, the log is the truth. */
export class TurnEnds {
  private readonly waiting = new Map<string, Set<() => void>>()

  over(turnId: string) {
    const told = this.waiting.get(turnId)
    if (told === undefined) return
    this.waiting.delete(turnId)
    for (const tell of told) tell()
  }

  /** Tells once. Gives what takes the wish back. */
  await(turnId: string, tell: () => void) {
    const told = this.waiting.get(turnId) ?? new Set()
    this.waiting.set(turnId, told.add(tell))
    return () => {
      if (told.delete(tell) && told.size === 0 && this.waiting.get(turnId) === told) this.waiting.delete(turnId)
    }
  }
}
