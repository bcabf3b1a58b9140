/** Models of every provider that fail, break off, fall silent or send elsewhere. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { layer } from "../../src/models/layer.ts"
import { Models, type Prompt } from "../../src/models/Model.ts"
import { failed, promptOf, sampled, user } from "./prompts.ts"
import { type Behaviour, startServer } from "./servers/server.ts"
import { idleMs, ways, withProvider } from "./providerFixture.ts"

describe.each(ways)("a model of $title", (way) => {
  const { id } = way.model
  const hi: Prompt = promptOf([user("hi")], { system: "Be brief." })

  it.live.each<[string, Behaviour, string, object]>([
    [
      "the connection is lost",
      { kind: "cut", text: ["Hel", "lo"] },
      "the connection was lost",
      { code: "model_error" }
    ],
    [
      "the stream just ends",
      { kind: "unfinished", text: ["Hel", "lo"] },
      "the stream ended without completion",
      { code: "model_error" }
    ],
    [
      "the stream ends in the middle of a word",
      { kind: "torn", text: ["Hel", "lo"] },
      "the stream ended without completion",
      { code: "model_error" }
    ],
    [
      "the provider falls silent",
      { kind: "silent", text: ["Hel", "lo"] },
      `the provider sent nothing for ${idleMs} ms`,
      { code: "model_overloaded" }
    ],
    [
      "the provider reports an error",
      { kind: "error", text: ["Hel", "lo"] },
      "overloaded",
      { code: "model_overloaded" }
    ]
  ])("says after how much its answer broke off, where %s", ([, behaviour, why, expected]) =>
    withProvider(way, [behaviour], () =>
      Effect.gen(function* () {
        const failure = yield* failed(id, hi)
        expect(failure).toMatchObject({ ...expected, transient: true, unavailable: false, begun: true })
        expect(failure.text.toLowerCase()).toMatch(new RegExp(`^the answer broke off after 5 characters: .*${why}`))
      })
    )
  )

  it.live("reports what a broken answer has used, as far as the provider has told", () =>
    withProvider(
      way,
      [
        { kind: "cut", text: ["Hel"], usage: { input: 20, output: 3 } },
        { kind: "answer", answer: { end: "refused", usage: { input: 20, output: 3 } } }
      ],
      () =>
        Effect.gen(function* () {
          const broken = yield* failed(id, hi)
          // OpenAI's Responses tell at the end, and there was none.
          if (way.title === "openai") expect(broken.usage).toBeUndefined()
          else {
            expect(broken.usage).toMatchObject({ inputTokens: 20 })
            expect(broken.usage?.estimatedCost).toBeGreaterThan(0)
          }
          expect((yield* failed(id, hi)).usage).toMatchObject({ inputTokens: 20, outputTokens: 3, totalTokens: 23 })
        })
    )
  )

  it.live.each<[string, Behaviour, object]>([
    [
      "429 with Retry-After",
      { kind: "status", status: 429, headers: { "retry-after": "7" } },
      { code: "model_rate_limited", transient: true, unavailable: false, retryAfterMs: 7000 }
    ],
    [
      "429 without quota",
      { kind: "status", status: 429, code: "insufficient_quota", message: "insufficient_quota" },
      { code: "model_rate_limited", transient: false, unavailable: true }
    ],
    ["500", { kind: "status", status: 500 }, { code: "model_error", transient: true, unavailable: false }],
    ["503", { kind: "status", status: 503 }, { code: "model_overloaded", transient: true, unavailable: false }],
    ["529", { kind: "status", status: 529 }, { code: "model_overloaded", transient: true }],
    ["403", { kind: "status", status: 403 }, { code: "model_unavailable", transient: false, unavailable: true }],
    ["404", { kind: "status", status: 404 }, { code: "model_unavailable", transient: false, unavailable: true }],
    ["400", { kind: "status", status: 400 }, { code: "model_error", transient: false, unavailable: false }],
    [
      "a prompt that is too long",
      { kind: "status", status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
      { code: "context_overflow", transient: false }
    ],
    ["a refusal", { kind: "answer", answer: { end: "refused" } }, { code: "content_refused", transient: false }],
    ["silence from the start", { kind: "hang" }, { code: "model_overloaded", transient: true }],
    ["silence in the middle", { kind: "silent", text: ["Hel"] }, { code: "model_overloaded", transient: true }],
    ["a connection that breaks", { kind: "cut", text: ["Hel"] }, { code: "model_error", transient: true }],
    ["a stream without completion", { kind: "unfinished", text: ["Hel"] }, { code: "model_error", transient: true }],
    ["an error in the stream", { kind: "error", text: ["Hel"] }, { code: "model_overloaded", transient: true }]
  ])("fails on %s", ([, behaviour, expected]) =>
    withProvider(way, [behaviour], (server) =>
      Effect.gen(function* () {
        expect(yield* failed(id, hi)).toMatchObject(expected)
        expect(server.requests).toHaveLength(1)
      })
    )
  )

  it.live("fails with a wrong key", () =>
    withProvider(
      way,
      [],
      () =>
        Effect.gen(function* () {
          expect(yield* failed(id, hi)).toMatchObject({ code: "model_unavailable", unavailable: true })
        }),
      "wrong"
    )
  )

  it.live.each([301, 307, 308])(
    "fails where it is sent elsewhere by a %s: nothing arrives there, no key and no prompt",
    (status) =>
      Effect.acquireUseRelease(
        Effect.promise(() => startServer(way.protocol)),
        (elsewhere) =>
          withProvider(
            way,
            [{ kind: "status", status, headers: { location: `${elsewhere.url}${way.base}/canary` } }],
            (server) =>
              Effect.gen(function* () {
                const failure = yield* failed(id, hi)
                expect(failure).toMatchObject({ code: "model_unavailable", transient: false, unavailable: true })
                expect(failure.text).toBe(`the provider answered with a redirect (${status}), which is not followed`)
                expect([server.requests.length, elsewhere.connections()]).toEqual([1, 0])
              })
          ),
        (elsewhere) => Effect.promise(() => elsewhere.stop())
      )
  )

  it.live("may be tried again when nobody listens", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.promise(() => startServer(way.protocol))
      yield* Effect.promise(() => gone.stop())
      const model = { ...way.model, baseUrl: gone.url + way.base }
      const failure = yield* failed(id, hi).pipe(Effect.provide(layer({ env: {}, modelsFile: { models: [model] } })))
      expect(failure).toMatchObject({ code: "model_unavailable", transient: true, unavailable: false })
    })
  )

  it.live("is not given up while the provider shows that it lives", () =>
    withProvider(way, [{ kind: "answer", answer: { text: ["late"] }, pings: { count: 6, pauseMs: 50 } }], () =>
      Effect.gen(function* () {
        expect((yield* sampled(id, hi)).text).toBe("late")
      })
    )
  )

  it.live.each<[string, Behaviour]>([
    ["before the first byte", { kind: "hang" }],
    ["in the middle", { kind: "silent", text: ["Hel"] }]
  ])("closes its connection when interrupted %s", ([, behaviour]) =>
    withProvider(way, [behaviour], (server) =>
      Effect.gen(function* () {
        const models = yield* Models
        let text = ""
        const onText = (more: string) => {
          text += more
        }
        const fiber = yield* Effect.forkChild(models.sample({ modelId: id, prompt: hi, onText }))
        while (server.requests.length === 0) yield* Effect.sleep(2)
        if (behaviour.kind === "silent") while (text !== "Hel") yield* Effect.sleep(2)
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => server.abandoned)
      })
    )
  )
})
