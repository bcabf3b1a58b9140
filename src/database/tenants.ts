/**
 * Turns of workspaces at connections that all share: what requests of one workspace ask leaves a connection to the
 * others.
 *
 * T1. A workspace has at most n - 1 connections of a pool of n at once, and at least one. Further work waits in the
 *     workspace's own line, and is told so when that takes too long.
 * T2. Work of the node itself has no workspace, and stands in no such line.
 */
import { Context, Duration, Effect, Option, Semaphore } from "effect"

/** The workspace whose request is carried out; the gate says so, and nothing that the node does by itself has one. */
export const Tenant = Context.Reference<string | undefined>("troupe/Tenant", { defaultValue: () => undefined })

interface Turn {
  readonly free: Semaphore.Semaphore
  /** Those that wait for it or have it. */
  users: number
}

export class Turns<E> {
  private readonly turns = new Map<string, Turn>()
  private readonly most: number
  private readonly patience: Duration.Duration
  private readonly late: () => E

  /** `late`: the failure of whoever has waited for so long. */
  constructor(connections: number, patienceMs: number, late: () => E) {
    this.most = Math.max(1, connections - 1)
    this.patience = Duration.millis(patienceMs)
    this.late = late
  }

  /** Those workspaces of which something waits or is under way. */
  get size() {
    return this.turns.size
  }

  /** Does something that takes one connection. */
  within<A, E2>(use: Effect.Effect<A, E2>): Effect.Effect<A, E | E2> {
    return Effect.withFiber((fiber) => {
      const tenant = fiber.getRef(Tenant)
      return tenant === undefined
        ? use
        : Effect.acquireUseRelease(
            Effect.sync(() => this.come(tenant)),
            ({ free, users }) => {
              const inLine = Effect.timeoutOption(free.take(1), this.patience)
              // Nearly always nobody waits: no timer then. Where another takes what was free, this one waits in line.
              const atOnce = Effect.flatMap(free.takeIfAvailable(1), (has) => (has ? Effect.succeedSome(1) : inLine))
              return Effect.acquireUseRelease(
                users <= this.most ? atOnce : inLine,
                (taken): Effect.Effect<A, E | E2> =>
                  Option.isSome(taken) ? use : Effect.suspend(() => Effect.fail(this.late())),
                (taken) => (Option.isSome(taken) ? free.release(1) : Effect.void)
              )
            },
            (turn) => Effect.sync(() => this.leave(tenant, turn))
          )
    })
  }

  private come(tenant: string) {
    const turn = this.turns.get(tenant) ?? { free: Semaphore.makeUnsafe(this.most), users: 0 }
    this.turns.set(tenant, turn)
    turn.users++
    return turn
  }

  private leave(tenant: string, turn: Turn) {
    if (--turn.users === 0) this.turns.delete(tenant)
  }
}
