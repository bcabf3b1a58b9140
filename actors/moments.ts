/** When the actors in memory want to be told the time: a heap, so that a tick costs what is due and not what lives. */

interface Entry<A> {
  readonly of: A
  at: number
  /** Its index in the heap. */
  place: number
}

export class MomentQueue<A> {
  private readonly heap: Array<Entry<A>> = []
  private readonly entries = new Map<A, Entry<A>>()

  get size() {
    return this.heap.length
  }

  /** Tells the actor at `at` at the latest: an earlier moment that is noted already stays. */
  by(of: A, at: number) {
    const noted = this.entries.get(of)
    if (noted !== undefined && noted.at <= at) return
    if (noted === undefined) {
      const entry = { of, at, place: this.heap.length }
      this.entries.set(of, entry)
      this.heap.push(entry)
      this.rise(entry)
    } else {
      noted.at = at
      this.rise(noted)
    }
  }

  forget(of: A) {
    const entry = this.entries.get(of)
    if (entry === undefined) return
    this.entries.delete(of)
    const last = this.heap.pop()
    if (last === undefined || last === entry) return
    this.put(last, entry.place)
    this.rise(last)
    this.sink(last)
  }

  /** Takes out the earliest whose moment has come; undefined when there is none. */
  next(now: number): A | undefined {
    const [first] = this.heap
    if (first === undefined || first.at > now) return undefined
    this.forget(first.of)
    return first.of
  }

  private put(entry: Entry<A>, place: number) {
    this.heap[place] = entry
    entry.place = place
  }

  private rise(entry: Entry<A>) {
    for (;;) {
      const place = (entry.place - 1) >> 1
      const above = entry.place === 0 ? undefined : this.heap[place]
      if (above === undefined || above.at <= entry.at) return
      this.put(above, entry.place)
      this.put(entry, place)
    }
  }

  private sink(entry: Entry<A>) {
    for (;;) {
      const place = entry.place * 2 + 1
      const [left, right] = [this.heap[place], this.heap[place + 1]]
      const below = right !== undefined && left !== undefined && right.at < left.at ? right : left
      if (below === undefined || below.at >= entry.at) return
      const [up, down] = [entry.place, below.place]
      this.put(below, up)
      this.put(entry, down)
    }
  }
}
