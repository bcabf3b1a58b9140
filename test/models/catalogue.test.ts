import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { knownProviders } from "../../src/models/knownModels.ts"
import { layer, type ModelsSettings } from "../../src/models/layer.ts"
import { Models } from "../../src/models/Model.ts"
import { failed, promptOf, sampled, user } from "./prompts.ts"
import { openaiResponses } from "./servers/openaiResponses.ts"
import { startServer } from "./servers/server.ts"

const modelsOf = (settings: ModelsSettings) =>
  Effect.provide(
    Models.use((models) => Effect.succeed(models)),
    layer(settings)
  )
const idsOf = (settings: ModelsSettings) => Effect.map(modelsOf(settings), ({ list }) => list.map(({ id }) => id))
const scripted = ["troupe/scripted", "troupe/scripted-paid", "troupe/scripted-small"]

describe("the catalogue", () => {
  it.effect("has the scripted models and no others without a key", () =>
    Effect.gen(function* () {
      expect(yield* idsOf({ env: { OPENAI_API_KEY: "  " } })).toEqual(scripted)
    })
  )

  it.effect("describes the scripted models as they behave", () =>
    Effect.gen(function* () {
      const { list } = yield* modelsOf({ env: {} })
      expect(list[1]).toMatchObject({
        id: "troupe/scripted-paid",
        contextWindow: 1_000_000,
        inputFormats: ["png", "jpeg"],
        pricing: { input: 1, output: 2 },
        status: "available",
        targets: [{ id: "troupe/scripted-paid", provider: "troupe", inputFormats: ["png", "jpeg"] }]
      })
      expect(list[2]?.contextWindow).toBe(2000)
    })
  )

  it.effect.each([
    ["OPENAI_API_KEY", "openai"],
    ["ANTHROPIC_API_KEY", "anthropic"],
    ["GOOGLE_GENERATIVE_AI_API_KEY", "google"]
  ] as const)("adds the models of a provider when %s exists", ([variable, provider]) =>
    Effect.gen(function* () {
      const { list, resolve } = yield* modelsOf({ env: { [variable]: "k" } })
      const added = list.slice(3)
      expect(added.length).toBeGreaterThan(5)
      expect(
        added.every(
          ({ id, status, pricing }) => id.startsWith(`${provider}/`) && status === "available" && pricing === undefined
        )
      ).toBe(true)
      expect(resolve(`${provider}/*`)).toEqual(added.map(({ id }) => id))
      expect(new Set(list.map(({ createdAt }) => createdAt)).size).toBe(list.length)
    })
  )

  it.effect("lists in the catalogue's order when the newest come first", () =>
    Effect.gen(function* () {
      const { list } = yield* modelsOf({ env: { OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" } })
      expect(list.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))).toEqual(list)
    })
  )

  it.each(knownProviders)("names only models that the installed package of $kind knows", async ({ kind, models }) => {
    const source = await readFile(new URL(`../../node_modules/@ai-sdk/${kind}/dist/index.js`, import.meta.url), "utf8")
    for (const { name } of models) expect(source).toMatch(new RegExp(`["\\s]${name.replaceAll(".", "\\.")}["\\s]*: `))
  })

  it.effect("adds fields of the operator's file to a known model, and the file's own models", () =>
    Effect.gen(function* () {
      const modelsFile = {
        models: [
          { id: "openai/gpt-5", contextWindow: 400_000, pricing: { input: 1.25, output: 10 }, retiresAt: "2027-01-31" },
          {
            id: "local/llama",
            provider: "openai-compatible",
            baseUrl: "http://127.0.0.1:1/v1",
            inputFormats: ["png"],
            status: "deprecated"
          }
        ]
      }
      const { list } = yield* modelsOf({ env: { OPENAI_API_KEY: "k" }, modelsFile })
      expect(list.find(({ id }) => id === "openai/gpt-5")).toMatchObject({
        displayName: "GPT-5",
        contextWindow: 400_000,
        pricing: { input: 1.25, output: 10 },
        retiresAt: "2027-01-31T00:00:00.000Z",
        status: "available"
      })
      expect(list.at(-1)).toMatchObject({
        id: "local/llama",
        displayName: "llama",
        features: ["tools", "images"],
        status: "deprecated",
        targets: [{ id: "local/llama", provider: "local", inputFormats: ["png"] }]
      })
    })
  )

  it.effect("lists a model that the operator named without its key as unavailable, and does not serve it", () =>
    Effect.gen(function* () {
      const settings: ModelsSettings = { env: {}, modelsFile: { models: [{ id: "openai/gpt-5" }] } }
      const { list, resolve } = yield* modelsOf(settings)
      expect(list.at(-1)).toMatchObject({ id: "openai/gpt-5", status: "unavailable" })
      expect(resolve("openai/gpt-5")).toEqual([])
      expect(resolve("openai/*")).toEqual([])
      expect(yield* failed("openai/gpt-5", promptOf([user("hi")])).pipe(Effect.provide(layer(settings)))).toMatchObject(
        { code: "model_unavailable", unavailable: true }
      )
    })
  )

  it.live(
    "sends a provider's usual key to its usual address, or to that of the environment, and not to one that the file names",
    () =>
      Effect.acquireUseRelease(
        Effect.promise(() => startServer(openaiResponses, "k")),
        (server) =>
          Effect.gen(function* () {
            const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1` }
            const hi = promptOf([user("hi")])
            expect((yield* sampled("openai/gpt-5", hi).pipe(Effect.provide(layer({ env })))).text).toBe("ok")
            const modelsFile = { models: [{ id: "openai/gpt-5", baseUrl: `${server.url}/v1` }] }
            expect(yield* failed("openai/gpt-5", hi).pipe(Effect.provide(layer({ env, modelsFile })))).toMatchObject({
              code: "model_unavailable"
            })
          }),
        (server) => Effect.promise(() => server.stop())
      )
  )
})

describe("a selector", () => {
  const settings: ModelsSettings = {
    env: { OPENAI_API_KEY: "k" },
    modelsFile: {
      models: [{ id: "anthropic/claude-opus-5" }],
      aliases: {
        "@fast": ["anthropic/claude-opus-5", "openai/gpt-5-nano", "troupe/*", "openai/gpt-5-nano"],
        "@none": ["google/*"]
      }
    }
  }
  it.effect.each<[string, ReadonlyArray<string>]>([
    ["troupe/scripted", ["troupe/scripted"]],
    ["troupe/*", scripted],
    ["@fast", ["openai/gpt-5-nano", ...scripted]],
    ["@none", []],
    ["@other", []],
    ["troupe/none", []],
    ["nobody/*", []],
    ["*", []],
    ["", []],
    ["__proto__", []],
    ["troupe/", []]
  ])("%s means what is available", ([selector, ids]) =>
    Effect.gen(function* () {
      expect((yield* modelsOf(settings)).resolve(selector)).toEqual(ids)
    })
  )
})

describe("the operator's file", () => {
  it.effect.each<[string, Readonly<Record<string, unknown>>, string]>([
    ["a model without an id", { models: [{}] }, `models[0].id: `],
    ["an id without a provider", { models: [{ id: "gpt" }] }, `models[0].id: `],
    ["a built-in id", { models: [{ id: "troupe/scripted" }] }, `models[0].id: `],
    ["an unknown field", { models: [{ id: "openai/gpt-5", price: 1 }] }, `models[0].price: unknown field`],
    [
      "a negative price",
      { models: [{ id: "openai/gpt-5" }, { id: "openai/x", pricing: { input: -1 } }] },
      `models[1].pricing.input: `
    ],
    ["a broken window", { models: [{ id: "openai/gpt-5", contextWindow: 0 }] }, `models[0].contextWindow: `],
    ["a base URL that is none", { models: [{ id: "openai/gpt-5", baseUrl: "ftp://x" }] }, `models[0].baseUrl: `],
    ["a provider without an address", { models: [{ id: "mine/x" }] }, `models[0].provider: `],
    [
      "a compatible model without an address",
      { models: [{ id: "mine/x", provider: "openai-compatible" }] },
      `models[0].baseUrl: `
    ],
    [
      "the same id twice",
      { models: [{ id: "openai/gpt-5" }, { id: "openai/gpt-5" }] },
      `models: expected ids that are unique in the file`
    ],
    ["an alias without an at sign", { aliases: { fast: ["openai/*"] } }, "fast"],
    ["an alias of nothing", { aliases: { "@fast": [] } }, `aliases.@fast: `],
    [
      "an alias of a model that nobody knows",
      { aliases: { "@fast": ["openai/gpt-5", "openai/gtp-5"] } },
      `aliases.@fast[1]: `
    ]
  ])("is refused with the place for %s", ([, modelsFile, place]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(modelsOf({ env: {}, modelsFile }))
      expect(error._tag).toBe("ModelsFileInvalid")
      expect(error.reason).toContain(place)
    })
  )

  it.live("is read from its path, and refused with the path when it is missing or not JSON", () =>
    Effect.acquireUseRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "troupe-models-"))),
      (folder) =>
        Effect.gen(function* () {
          const path = join(folder, "models.json")
          const missing = yield* Effect.flip(modelsOf({ env: {}, modelsFile: path }))
          expect(missing.message).toContain(path)
          yield* Effect.promise(() => writeFile(path, "{"))
          expect((yield* Effect.flip(modelsOf({ env: {}, modelsFile: path }))).reason).toContain("not JSON")
          yield* Effect.promise(() =>
            writeFile(path, JSON.stringify({ models: [{ id: "google/mine", baseUrl: "http://127.0.0.1:1" }] }))
          )
          expect((yield* idsOf({ env: {}, modelsFile: path })).at(-1)).toBe("google/mine")
        }),
      (folder) => Effect.promise(() => rm(folder, { recursive: true }))
    )
  )
})
