import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { usualLimits } from "../../src/quotas/quota.ts"
import { decodeQuotasFile, limitsOf, readQuotasFile } from "../../src/quotas/quotasFile.ts"
import { freshId } from "../../src/seed.ts"

const refusal = (json: unknown) => Effect.map(Effect.flip(decodeQuotasFile(json, "q.json")), ({ message }) => message)

describe("the file of quotas", () => {
  it.effect("a workspace has its own limit, else the file's default, else the table's", () =>
    Effect.gen(function* () {
      const [one, other] = [freshId("workspace"), freshId("workspace")]
      const limit = limitsOf(
        yield* decodeQuotasFile(
          { defaults: { threads: 5, agents: 0 }, workspaces: { [one]: { threads: 7 } } },
          "q.json"
        )
      )
      assert.deepStrictEqual(
        [limit(one, "threads"), limit(other, "threads"), limit(one, "agents"), limit(one, "keys")],
        [7, 5, 0, usualLimits.keys]
      )
      assert.strictEqual(limitsOf({})(one, "stored_bytes"), 10 * 1024 ** 3)
    })
  )

  it.effect("an unknown name is refused with those that there are, wherever it stands", () =>
    Effect.gen(function* () {
      for (const json of [
        { defaults: { thread: 1 } },
        { workspaces: { [freshId("workspace")]: { thread: 1 } } },
        { defaults: { roles: 65 } }
      ]) {
        const message = yield* refusal(json)
        assert.include(message, "agents, connections, keys, stored_bytes, threads, toolsets")
        assert.match(message, /q\.json/)
      }
    })
  )

  it.effect("so is what is no limit, no workspace, and no field of the file", () =>
    Effect.gen(function* () {
      for (const json of [
        { defaults: { agents: -1 } },
        { defaults: { agents: 1.5 } },
        { defaults: { agents: "1" } },
        { workspaces: { default: { agents: 1 } } },
        { default: {} },
        []
      ]) {
        assert.match(yield* refusal(json), /^the quotas file q\.json cannot be used: /)
      }
      assert.strictEqual(
        yield* refusal({ default: {}, defaults: { agents: "1" } }),
        "the quotas file q.json cannot be used: default: unknown field; defaults.agents: expected a number"
      )
      assert.strictEqual(yield* refusal([]), "the quotas file q.json cannot be used: the file: expected an object")
    })
  )

  it.effect("so is a file that is not there, or no JSON", () =>
    Effect.gen(function* () {
      assert.match((yield* Effect.flip(readQuotasFile("/nowhere/q.json"))).message, /ENOENT/)
      assert.match((yield* Effect.flip(readQuotasFile(import.meta.filename))).message, /not JSON/)
    })
  )
})
