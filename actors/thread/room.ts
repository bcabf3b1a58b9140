/**
 * Room that many effects share, as `Line.ts` lets them in (C1). An effect that is interrupted, waiting or inside,
 * leaves no trace (C2).
 */
import { Effect } from "effect"
import { type Guest, Line } from "../Line.ts"

export class MemoryRoom {
  private readonly line: Line<Guest>

  constructor(cap: number) {
    this.line = new Line(cap)
  }

  /** Those that wait. */
  get waiting() {
    return this.line.waiting
  }

  /** Runs `use` once there is room for it; the room is free again after that, however it ends. */
  within<A, E, R>(size: number, use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let place: "outside" | "waiting" | "inside" = "outside"
      let enter = () => {}
      const guest: Guest = {
        size,
        admit: () => {
          place = "inside"
          enter()
        }
      }
      const come = Effect.suspend(() => {
        place = this.line.come(guest) ? "inside" : "waiting"
        if (place === "inside") return use
        // A fiber may pause before any step: it may have been let in by the time at which it waits.
        const entered = Effect.callback<void>((resume) => {
          enter = () => resume(Effect.void)
          if (place === "inside") enter()
        })
        return Effect.andThen(entered, use)
      })
      // What is above changes the room only once the way back out is certain.
      return Effect.onExitPrimitive(come, () => {
        if (place === "inside") this.line.leave(guest)
        else if (place === "waiting") this.line.withdraw(guest)
        return undefined
      })
    })
  }
}
