/**
 * A node that dies at a commit of operations, as far as whoever asked can tell: before that commit or after it, nothing
 * of that request runs on there, and nobody hears an answer. Its client asks another node.
 */
import { Effect, Layer } from "effect"
import { Database } from "../../src/database/Database.ts"

interface Death {
  /** Which commit of operations it is, counted from 1. */
  readonly commit: number
  readonly fault: "before" | "after"
}

/** To park, to decide, and to complete. */
const counts = (operation: string) => / \(parked\)$|^operations\.(decide|complete)$/.test(operation)

export class Deaths {
  commits = 0
  #death: Death | undefined
  #died = Promise.withResolvers<undefined>()

  /** Counts anew, and dies there. */
  at(death: Death | undefined) {
    this.commits = 0
    this.#death = death
    this.#died = Promise.withResolvers()
  }

  /** Of a request to the node: undefined where it died over it. */
  survived<A>(answer: Promise<A>): Promise<A | undefined> {
    return Promise.race([answer, this.#died.promise])
  }

  readonly layer = Layer.effect(
    Database,
    Effect.map(Database, (database) => {
      const die = Effect.andThen(
        Effect.sync(() => this.#died.resolve(undefined)),
        Effect.never
      )
      const atomically: Database["Service"]["atomically"] = (operation, query) =>
        Effect.suspend(() => {
          const work = database.atomically(operation, query)
          if (!counts(operation) || ++this.commits !== this.#death?.commit) return work
          return this.#death.fault === "before" ? die : Effect.andThen(work, die)
        })
      return Database.of({ ...database, atomically })
    })
  )
}
