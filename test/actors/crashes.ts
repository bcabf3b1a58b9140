/**
 * Crash-point enumeration (architecture, "Proving it", 2): a scenario runs once to count its commits,
 * then again and again: the node dies before one of them or after it, its connection is lost before or
 * after, or the journal does not answer. Another node takes over cold where one died, the client goes
 * on, and the invariants hold: every turn has ended, nothing that was acknowledged is missing.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Recorded } from "../invariants.ts"
import { Client, told } from "./Client.ts"
import { type Misfortune, makeWorld, type World } from "./World.ts"

export interface Scenario {
  readonly name: string
  readonly does: (client: Client) => Effect.Effect<void>
  /** The log of the run without a crash. */
  readonly log: string
  /** Where a crash must not change the log: but for these, if any. */
  readonly or?: ReadonlyArray<string>
  /** What else holds in the end, whatever crashed. */
  readonly then?: (log: ReadonlyArray<Recorded>, world: World) => void
  readonly given?: (world: World) => void
}

export const runScenario = ({ does, given, then }: Omit<Scenario, "name" | "log">, ...misfortunes: ReadonlyArray<Misfortune>) =>
  Effect.gen(function*() {
    const world = makeWorld(...misfortunes)
    given?.(world)
    const client = new Client(world)
    yield* client.start()
    yield* does(client)
    yield* client.rest()
    const facts = yield* client.check()
    then?.(facts, world)
    return { facts, log: told(facts), commits: world.store.commits, deaths: client.deaths }
  }).pipe(
    Effect.provide(Layer.fresh(TestClock.layer())),
    Effect.catchCause((cause) =>
      Effect.die(new Error(misfortunes.map(({ commit, fault }) => `${fault}, commit ${commit}`).join(" and "), { cause: Cause.squash(cause) })))
  )

const faults = ["crash before", "crash after", "lost before", "lost after", "unavailable"] as const
const pairs = [["crash before", "crash after"], ["crash after", "crash before"], ["unavailable", "crash after"]] as const

/** Of the pairs of commits every so manieth: 1 is all of them. */
const stride = Number(process.env["TROUPE_CRASH_PAIRS_STRIDE"] ?? 1)

export const enumerate = (scenarios: ReadonlyArray<Scenario>) => {
  let cases = 0
  afterAll(() => console.log(`crash points: ${cases} cases of ${scenarios.length} scenarios`))

  const isOneOf = ({ log, or }: Scenario, found: string, where: string) => {
    if (or !== undefined && found !== log) assert.include(or, found, where)
  }

  describe("no commit that fails harms", () => {
    for (const scenario of scenarios) {
      it.effect(scenario.name, () =>
        Effect.gen(function*() {
          const whole = yield* runScenario(scenario)
          assert.strictEqual(whole.log, scenario.log)
          for (let commit = 1; commit <= whole.commits; commit++) {
            for (const fault of faults) {
              const { deaths, log } = yield* runScenario(scenario, { commit, fault })
              assert.strictEqual(deaths, fault.startsWith("crash") ? 1 : 0, `${fault}, commit ${commit} of ${whole.commits}`)
              isOneOf(scenario, log, `${fault}, commit ${commit} of ${whole.commits}`)
              cases++
            }
          }
        }), 60_000)
    }
  })

  describe("nor do two of them, whose second node dies as well, of", () => {
    for (const scenario of scenarios) {
      it.effect(scenario.name, () =>
        Effect.gen(function*() {
          const { commits } = yield* runScenario(scenario)
          let pair = 0
          for (let first = 1; first <= commits; first++) {
            for (let second = first + 1; second <= commits + 1; second++) {
              if (pair++ % stride !== 0) continue
              for (const [before, after] of pairs) {
                const { log } = yield* runScenario(scenario, { commit: first, fault: before }, { commit: second, fault: after })
                isOneOf(scenario, log, `${before}, commit ${first}, and ${after}, commit ${second}`)
                cases++
              }
            }
          }
        }), 60_000)
    }
  })
}
