/** A model whose package is not there. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ModelEntry } from "../../src/models/Model.ts"
import { toRemote } from "../../src/models/providers.ts"
import { remoteBackend } from "../../src/models/remote.ts"
import { promptOf, user } from "./prompts.ts"

const entry: ModelEntry = {
  id: "openai/m",
  displayName: "M",
  inputFormats: [],
  features: [],
  status: "available",
  targets: [{ id: "openai/m", provider: "openai", inputFormats: [] }],
  createdAt: "2026-01-01T00:00:00.000Z"
}

it.effect("cannot serve, without a word of this node's folders", () =>
  Effect.gen(function* () {
    const remote = toRemote(entry, {
      kind: "openai",
      api: "responses",
      provider: "openai",
      name: "m",
      apiKey: "k",
      baseUrl: undefined
    })
    const { sample } = remoteBackend(
      { ...remote, load: () => Promise.reject(new Error("Cannot find package in /troupe/node_modules")) },
      1_000
    )
    const failure = yield* Effect.flip(sample({ modelId: entry.id, prompt: promptOf([user("hi")]), onText: () => {} }))
    assert.deepStrictEqual(
      [failure.code, failure.text, failure.unavailable, failure.transient],
      ["model_unavailable", "this node could not load the package of the model's provider", true, false]
    )
  })
)
