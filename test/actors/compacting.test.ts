/**
 * Rounds of compaction: how many there are before a model call at most, what ends one, and what events show of a
 * summary.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeCompacting } from "../../actors/thread/compacting.ts"
import { defaultCompaction } from "../../src/domain/compactionSettings.ts"
import { limits } from "../../src/domain/limits.ts"
import { imageFormatFailure } from "../../src/models/images.ts"
import type { Models, PromptMessage } from "../../src/models/Model.ts"
import { Walk } from "../machines/Walk.ts"
import type { Client } from "./Client.ts"
import { runScenario } from "./crashes.ts"
import { plan, type World } from "./World.ts"

const compactingWith = (sample: Models["Service"]["sample"]) => makeCompacting({ list: models, sample })

const models: Models["Service"]["list"] = [
  {
    id: "m/one",
    displayName: "One",
    createdAt: "2026-01-01T00:00:00.000Z",
    contextWindow: 1_000,
    inputFormats: [],
    features: [],
    status: "available",
    targets: []
  }
]
const compacting = compactingWith(() => Effect.die("nobody asks it"))

/** Twenty turns that are over and far above any trigger, and one that runs. */
const messages = (turnId: string): ReadonlyArray<PromptMessage> =>
  Array.from({ length: 21 }, (_, i) => ({
    role: "user" as const,
    turnId: i === 20 ? turnId : `trn_${i}`,
    at: { pos: i + 1, seq: i + 1 },
    content: [{ type: "text" as const, text: "x".repeat(400) }]
  }))

describe("rounds before one model call", () => {
  it("are eight at most, however long the prompt still is", () => {
    const walk = new Walk().queue("A")
    const next = () => {
      const { attempt, step, target, turnId } = walk.turn
      const sample = { attempt, step, target, turnId, modelId: "m/one" }
      const prompt = { messages: messages(turnId), tools: [], turnId, purpose: "turn" as const }
      return compacting.before(walk.context.carry, walk.turn, sample, prompt, defaultCompaction)?.round
    }
    const rounds: Array<string | undefined> = []
    for (let i = 0; i < limits.buildRounds; i++) {
      rounds.push(next())
      walk.compacts().summarises()
    }
    assert.deepStrictEqual(
      rounds,
      Array.from({ length: limits.buildRounds }, (_, i) => `build:${i}`)
    )
    assert.isUndefined(next())
  })
})

describe("the preview of a summary", () => {
  it.each([
    ["whole", "é".repeat(512), "é".repeat(512)],
    ["cut at a character", `${"é".repeat(511)}x€`, `${"é".repeat(511)}x`],
    ["cut", "x".repeat(1_025), "x".repeat(1_024)]
  ])("has 1 KiB: %s", (_, summary, preview) => {
    const walk = new Walk().queue("A").compacts().summarises({ summary })
    const shown = walk.log.flatMap((fact) => (fact.type === "compacted" ? [fact.event.compaction.preview] : []))
    assert.deepStrictEqual(shown, [preview])
  })
})

describe("a summary that fails for what its model accepts", () => {
  it("says so on its event: the target, and the formats in order", async () => {
    const walk = new Walk().queue("A").compacts()
    const { step, turnId } = walk.turn
    const job = { turnId, step, round: "build:0" as const, modelId: "m/one", pos: 1 }
    const failing = compactingWith(() => Effect.fail(imageFormatFailure("m/one", ["webp", "gif", "webp"], "no")))
    const outcome = await Effect.runPromise(
      failing.summarise(job, messages(turnId), defaultCompaction, (_, call) => call)
    )
    if (outcome.type !== "summary.failed") return assert.fail(outcome.type)
    const [over] = walk.failsSummary(outcome).log.filter(({ type }) => type === "compacted")
    assert.deepInclude(over?.event, {
      failureCode: "model_image_format_unsupported",
      failureDetails: { targetId: "m/one", formats: ["gif", "webp"] }
    })
  })
})

describe("a round", () => {
  const turn = (name: string) => `user(${name}) assistant(${name}) turn_completed(${name})`
  const over = ["A", "B", "C"].map(turn).join(" ")
  /** Three turns, and one that a summary comes before; `then` is what happens half a second later. */
  const roundOf = (given: (world: World) => void, then: (client: Client) => Effect.Effect<void> = () => Effect.void) =>
    Effect.map(
      runScenario({
        given,
        does: Effect.fnUntraced(function* (client) {
          yield* client.create("A")
          for (const name of ["B", "C"]) {
            yield* client.rest()
            yield* client.send(name)
          }
          yield* client.rest()
          yield* client.compact()
          yield* client.send("D")
          yield* client.pass(500)
          yield* then(client)
        })
      }),
      ({ log }) => log
    )
  const slowly = (world: World) => {
    world.summaries = Effect.sleep("3 seconds")
  }

  it.effect("ends before its turn does, when that is cancelled", () =>
    Effect.gen(function* () {
      const log = yield* roundOf(slowly, (client) => client.cancel())
      assert.strictEqual(log, `${over} user(D) compacting(D) compacted(D: turn_interrupted) turn_cancelled(D)`)
    })
  )

  it.effect("ends before its turn does, when that has run too long", () =>
    Effect.gen(function* () {
      const log = yield* roundOf((world) => {
        slowly(world)
        world.plan = { ...plan, maxTurnMs: 2_000 }
      })
      assert.strictEqual(
        log,
        `${over} user(D) compacting(D) compacted(D: turn_interrupted) turn_failed(D: turn_timeout)`
      )
    })
  )

  it.effect("whose model has gone since its turn began fails, and the turn goes on", () =>
    Effect.gen(function* () {
      const log = yield* roundOf((world) => {
        world.plan = { ...plan, summariser: "m/gone" }
      })
      assert.strictEqual(
        log,
        `${over} user(D) compacting(D) compacted(D: model_unavailable) assistant(D) turn_completed(D)`
      )
    })
  )
})
