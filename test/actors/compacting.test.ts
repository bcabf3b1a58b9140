/** Rounds of compaction before a model call: how many there are at most, and what events show of a summary. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeCompacting } from "../../actors/thread/compacting.ts"
import { defaultCompaction } from "../../src/domain/compactionSettings.ts"
import { limits } from "../../src/domain/limits.ts"
import type { PromptMessage } from "../../src/models/Model.ts"
import { Walk } from "../machines/Walk.ts"

const compacting = makeCompacting({
  list: [
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
  ],
  sample: () => Effect.die("nobody asks it")
})

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
