/**
 * Crash-point enumeration: a scenario runs once to count its commits,
 * then again and again: the node dies before one of them or after it, its connection is lost before or
 * after, or the journal does not answer. Another node takes over cold where one died, the client goes
 * on, and the invariants hold: every turn has ended, nothing that was acknowledged is missing.
 *
 *     describe.each(crashPoints(scenarios))("%s", (_, holds) => {
 *       it.effect.each(named(scenarios))("%s", ([, scenario]) => holds(scenario), crashMs)
 *     })
 */
import { afterAll, assert } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Recorded } from "../invariants.ts"
import { Client } from "./Client.ts"
import { told } from "./threads.ts"
import { connect } from "./Wire.ts"
import { agentId, type Misfortune, makeWorld, type World } from "./World.ts"

export interface Scenario {
  readonly name: string
  readonly does: (client: Client) => Effect.Effect<void>
  /** The log of the run in which nothing goes wrong. */
  readonly log: string
  /**
   * Logs that are as good, since which of two things comes first is chance; `any`: as long as the log says the same
   * things.
   */
  readonly chance?: ReadonlyArray<string> | "any"
  /**
   * Logs to which only a crash may lead, or the end of what ran without a lease. Without any, a crash may change the
   * log at will.
   */
  readonly or?: ReadonlyArray<string>
  /** What else holds in the end, whatever crashed. */
  readonly then?: (log: ReadonlyArray<Recorded>, world: World) => void
  readonly given?: (world: World) => void
}

/** `watch`: somebody has a stream open on every node. */
export const runWatched = (
  { does, given, then }: Omit<Scenario, "name" | "log">,
  watch: Client["watch"],
  ...misfortunes: ReadonlyArray<Misfortune>
) =>
  Effect.gen(function* () {
    const world = makeWorld(...misfortunes)
    given?.(world)
    // Who takes over from a node that leaves reaches it.
    yield* connect(world)
    const client = new Client(world)
    client.watch = watch
    yield* client.start()
    yield* does(client)
    yield* client.rest()
    const facts = yield* client.check()
    then?.(facts, world)
    return { facts, log: told(facts), commits: world.store.commits, deaths: client.deaths, left: client.left }
  }).pipe(
    Effect.provide(Layer.fresh(TestClock.layer())),
    Effect.catchCause((cause) =>
      Effect.die(
        new Error(misfortunes.map(({ commit, fault }) => `${fault}, commit ${commit}`).join(" and "), {
          cause: Cause.squash(cause)
        })
      )
    )
  )

export const runScenario = (scenario: Omit<Scenario, "name" | "log">, ...misfortunes: ReadonlyArray<Misfortune>) =>
  runWatched(scenario, undefined, ...misfortunes)

const crashes = ["crash before", "crash after"] as const
const losses = [
  "lost before",
  "lost after",
  "unavailable",
  "late",
  "too late",
  "leave",
  "short fence",
  "long fence"
] as const
/** What a node reads to find again what it has lost, or to go on with it. */
const reads = ["claim", "load", "due", "key", "input", "log", "inbox", "release"] as const
const pairs = [
  ["crash before", "crash after"],
  ["crash after", "crash before"],
  ["unavailable", "crash after"]
] as const

/**
 * One case in `stride` is run, beginning at one that differs from run to run; 1 runs them all. Of plain crashes one in a
 * third of that is run.
 */
const stride = Number(process.env.TROUPE_CRASH_STRIDE ?? 15)
const from = Number(process.env.TROUPE_CRASH_FROM ?? Math.floor(Math.random() * stride))
/** Each file draws by a counter of its own: a file that is run alone with the printed numbers runs the same cases. */
export const draws = () => {
  let place = from
  const every = (step: number) => () => place++ % step === 0
  return {
    isDrawn: every(stride),
    isPlainDrawn: every(Math.max(1, Math.floor(stride / 3))),
    drawn: `(TROUPE_CRASH_STRIDE=${stride} TROUPE_CRASH_FROM=${from})`
  }
}

/** The timeout of one scenario, which runs anew for each case. */
export const crashMs = 60_000

export const named = (scenarios: ReadonlyArray<Scenario>) =>
  scenarios.map((scenario) => [scenario.name, scenario] as const)

/** What holds of each of a file's scenarios, as the first half of a sentence that its name ends. */
export const crashPoints = (scenarios: ReadonlyArray<Scenario>) => {
  const { drawn, isDrawn, isPlainDrawn } = draws()
  let cases = 0
  afterAll(() => console.log(`crash points: ${cases} cases of ${scenarios.length} scenarios ${drawn}`))

  const isSame = ({ chance = [], log }: Scenario, found: string, where: string) => {
    if (chance === "any") assert.deepStrictEqual(found.split(" ").sort(), log.split(" ").sort(), where)
    else if (!chance.includes(found)) assert.strictEqual(found, log, where)
  }
  const isOneOf = (scenario: Scenario, found: string, where: string) => {
    if (scenario.or !== undefined && !scenario.or.includes(found)) isSame(scenario, found, where)
  }

  const survivesCrashes = Effect.fnUntraced(function* (scenario: Scenario) {
    const whole = yield* runScenario(scenario)
    assert.strictEqual(whole.log, scenario.log)
    for (let commit = 1; commit <= whole.commits; commit++) {
      for (const fault of crashes) {
        if (!isPlainDrawn()) continue
        const { deaths, log } = yield* runScenario(scenario, { commit, fault })
        assert.strictEqual(deaths, 1, `${fault}, commit ${commit} of ${whole.commits}`)
        isOneOf(scenario, log, `${fault}, commit ${commit} of ${whole.commits}`)
        cases++
      }
    }
  })

  const survivesLosses = Effect.fnUntraced(function* (scenario: Scenario) {
    const { commits } = yield* runScenario(scenario)
    for (let commit = 1; commit <= commits; commit++) {
      for (const fault of losses) {
        if (!isDrawn()) continue
        const { deaths, log } = yield* runScenario(scenario, { commit, fault })
        assert.strictEqual(deaths, 0)
        const where = `${fault}, commit ${commit} of ${commits}`
        // A fence that stays closed ends what runs.
        if (fault === "long fence") isOneOf(scenario, log, where)
        else isSame(scenario, log, where)
        cases++
      }
    }
  })

  const survivesSilence = Effect.fnUntraced(function* (scenario: Scenario) {
    const { commits } = yield* runScenario(scenario)
    for (let commit = 1; commit <= commits; commit++) {
      for (const read of reads) {
        for (const fault of ["unasked", "unanswered"] as const) {
          if (!isDrawn()) continue
          const { log } = yield* runScenario(scenario, { commit, fault: "unavailable", then: { read, fault } })
          isSame(scenario, log, `unavailable, commit ${commit} of ${commits}, then ${read} ${fault}`)
          cases++
        }
      }
    }
  })

  const isTheSameWatched = Effect.fnUntraced(function* (scenario: Scenario) {
    for (const watch of [{}, { agentId }, { deltas: true }]) {
      isSame(scenario, (yield* runWatched(scenario, watch)).log, `watched: ${JSON.stringify(watch)}`)
      cases++
    }
  })

  const survivesTwo = Effect.fnUntraced(function* (scenario: Scenario) {
    const { commits } = yield* runScenario(scenario)
    for (let first = 1; first <= commits; first++) {
      for (let second = first + 1; second <= commits + 1; second++) {
        for (const [before, after] of pairs) {
          if (!isDrawn()) continue
          const { log } = yield* runScenario(
            scenario,
            { commit: first, fault: before },
            { commit: second, fault: after }
          )
          isOneOf(scenario, log, `${before}, commit ${first}, and ${after}, commit ${second}`)
          cases++
        }
      }
    }
  })

  return [
    ["no crash harms", survivesCrashes],
    ["nothing that a living node loses changes the log of", survivesLosses],
    ["nor does a question to the journal that then gets no answer, of", survivesSilence],
    ["nor does anybody who watches, of", isTheSameWatched],
    ["nor do two misfortunes, of which the second is a crash, harm", survivesTwo]
  ] as const
}
