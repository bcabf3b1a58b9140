/**
 * Room that many share: what they hold together stays below a cap, and who finds none waits.
 *
 * C1. Who waits is let in by order of coming, however small those behind are; one that is larger than the cap goes in alone.
 * C2. Whoever is interrupted, waiting or inside, leaves no trace.
 */
import { Effect } from "effect"

interface Place {
  readonly size: number
  inside: boolean
  enter: () => void
}

export class Room {
  private held = 0
  private readonly line: Array<Place> = []
  private readonly cap: number

  constructor(cap: number) {
    this.cap = cap
  }

  /** Those that wait. */
  get waiting() {
    return this.line.length
  }

  /** Runs `use` once there is room for it; the room is free again after that, however it ends. */
  within<A, E, R>(size: number, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const place: Place = { size, inside: false, enter: () => {} }
      // What follows changes the room only once the way back out is certain.
      return Effect.ensuring(Effect.andThen(this.come(place), use), Effect.sync(() => this.leave(place)))
    })
  }

  private come(place: Place): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.line.push(place)
      this.advance()
      if (place.inside) return Effect.void
      return Effect.callback<void>((resume) => { place.enter = () => resume(Effect.void) })
    })
  }

  private leave(place: Place) {
    if (place.inside) this.held -= place.size
    else if (this.line.includes(place)) this.line.splice(this.line.indexOf(place), 1)
    this.advance()
  }

  private advance() {
    for (let next = this.line[0]; next !== undefined && (this.held === 0 || this.held + next.size <= this.cap); next = this.line[0]) {
      this.line.shift()
      this.held += next.size
      next.inside = true
      next.enter()
    }
  }
}
