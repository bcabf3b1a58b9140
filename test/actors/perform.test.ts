/** How jobs are performed: what watchers have to do with a model call, and what becomes of a job that cannot begin. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePerform, type Performing } from "../../actors/thread/perform.ts"
import { Prompts } from "../../actors/thread/memory/prompts.ts"
import type { Start } from "../../actors/Kind.ts"
import { emptyToolkit, emptyTools } from "../../actors/thread/tools/toolkit.ts"
import { Unreachable } from "../../actors/Actor.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { resume } from "../../machines/thread/resume.ts"
import { Bus } from "../../src/bus/Bus.ts"
import type { Hint, Watch } from "../../src/bus/hints.ts"
import { makeInProcess } from "../../src/bus/inProcess.ts"
import { JournalUnavailable, type Log } from "../../src/journal/Journal.ts"
import { ModelFailure, type ModelReply, type SampleRequest } from "../../src/models/Model.ts"
import { freshId } from "../../src/seed.ts"
import { connected, nodeOn } from "../bus/world.ts"
import { Walk } from "../machines/Walk.ts"
import { call, usage } from "../machines/WalkCommands.ts"
import { natsForTests } from "../setup/nats.ts"
import { logOfWalk } from "./walkLog.ts"

/** Nobody minds whether the job has begun, and there is room. */
const start: Start = { begun: () => {}, enter: () => undefined, isOver: false }

const ref = { workspace: freshId("workspace"), kind: "thread" as const, id: freshId("thread") }
const agentId = freshId("agent")

const being = ({ snapshot }: Walk) => ({
  ref,
  parent: agentId,
  attributes: JSON.stringify({ createdBy: { type: "user", id: "ann" } }),
  createdAt: 0,
  head: { updatedAt: 0 },
  snapshot,
  desk: { queuedMs: () => 0 }
})

const jobOf = (walk: Walk): Job => resume(walk.snapshot)[0] ?? assert.fail("nothing is under way")

const emptyLog: Log = { facts: [], pos: undefined, characters: 0 }
const limits = { keptBytes: 1_000_000, underWayBytes: 1_000_000 }

const performing = Effect.fnUntraced(function* (
  more: Partial<Omit<Performing, "models">> & {
    readonly sample?: (request: SampleRequest) => Effect.Effect<ModelReply, ModelFailure>
  }
) {
  const bus = Bus.of({ ...(yield* makeInProcess()), state: () => "in-process" })
  const { sample = () => Effect.die("no model was to be asked"), ...rest } = more
  const perform = makePerform({
    bus,
    budgets: { reserve: () => Effect.succeed("reserved"), during: (_, __, work) => work },
    isCapped: () => Effect.succeed(false),
    prompts: new Prompts(limits, () => Effect.succeed(emptyLog)),
    images: { bytesOf: () => Effect.succeed(0), load: () => Effect.succeed(new Map()) },
    tools: emptyTools,
    random: () => 0.5,
    hooks: { evaluate: ({ deliveryId }) => Effect.succeed({ decision: "allow", latencyMs: 1, deliveryId }) },
    models: { list: [], resolve: () => [], sample },
    ...rest
  })
  return { bus, perform }
})

describe("a model call that breaks in mid-stream", () => {
  const breaks = ({ onText }: SampleRequest) =>
    Effect.suspend(() => {
      for (const piece of ["Hel", "lo"]) onText(piece)
      return Effect.fail(
        new ModelFailure({
          code: "model_error",
          text: "The stream broke.",
          transient: true,
          unavailable: false,
          begun: true
        })
      )
    })

  const watches: ReadonlyArray<readonly [string, Watch | undefined, ReadonlyArray<string>]> = [
    ["nobody watches", undefined, []],
    ["somebody watches the workspace's statuses", { workspace: ref.workspace }, []],
    ["somebody watches the thread's events", { workspace: ref.workspace, threadId: ref.id, deltas: false }, []],
    [
      "somebody reads along",
      { workspace: ref.workspace, threadId: ref.id, deltas: true },
      ["delta", "delta", "discard", "delta", "delta", "discard"]
    ]
  ]

  const isTriedAgain = Effect.fnUntraced(function* (perform: ReturnType<typeof makePerform>) {
    const walk = new Walk().queue("A")
    for (const attempt of [1, 2]) {
      const outcome = yield* perform(being(walk), jobOf(walk), start)
      assert(outcome?.type === "model.failed")
      assert.strictEqual(outcome.begun, true)
      walk.do({ ...outcome, at: walk.at, admissions: walk.admissions() })
      assert.deepInclude(walk.turn, { attempt: attempt + 1 })
      walk.due(10_000)
    }
    assert.strictEqual(walk.status, "running")
  })

  it.effect.each(watches)("is tried again when %s", ([_, watch, heard]) =>
    Effect.gen(function* () {
      const { bus, perform } = yield* performing({ sample: breaks })
      const hints: Array<Hint> = []
      if (watch !== undefined)
        yield* bus.subscribe(watch, (hint) => {
          hints.push(hint)
        })
      yield* isTriedAgain(perform)
      assert.deepStrictEqual(
        hints.map(({ type }) => type),
        heard
      )
      assert.deepStrictEqual(
        hints.flatMap((hint) => (hint.type === "delta" ? [hint.index] : [])),
        heard.length === 0 ? [] : [0, 1, 0, 1]
      )
    })
  )

  it.live("is tried again when there is another node, where somebody watches the thread's events", () =>
    Effect.gen(function* () {
      const { url, stop } = yield* Effect.promise(natsForTests)
      yield* Effect.addFinalizer(() => Effect.promise(stop))
      const [here, there] = yield* Effect.all([nodeOn(url), nodeOn(url)])
      for (const node of [here, there]) yield* connected(node)
      yield* there.bus.subscribe({ workspace: ref.workspace, threadId: ref.id, deltas: false }, () => {})
      assert.isTrue(here.bus.watched({ workspace: ref.workspace, agentId, threadId: ref.id }))
      const published: Array<Hint["type"]> = []
      const bus = Bus.of({
        ...here.bus,
        publish: ({ type }) => {
          published.push(type)
        }
      })
      yield* isTriedAgain((yield* performing({ bus, sample: breaks })).perform)
      assert.deepStrictEqual(published, [])
    })
  )
})

describe("a job that cannot begin for this node's own reasons", () => {
  /** Fails so often, then is what it is. */
  const failing = <A, E>(times: number, error: E, then: Effect.Effect<A, E>) => {
    let tries = 0
    return { tries: () => tries, effect: Effect.suspend(() => (++tries <= times ? Effect.fail(error) : then)) }
  }
  const away = new Unreachable({ retryAfterSeconds: 2 })
  const replied: ModelReply = { text: "Hello.", calls: [], usage, durationMs: 1 }
  const sample = () => Effect.succeed(replied)
  const sampling = () => new Walk().queue("A")
  const running = () => new Walk().queue("A").reply("", call("a"))
  const asking = () => new Walk().queue("A").reply("", call("a", { hooks: [0] }))

  const cases: ReadonlyArray<
    readonly [
      string,
      (times: number) => { readonly tries: () => number; readonly more: Parameters<typeof performing>[0] },
      () => Walk,
      string
    ]
  > = [
    [
      "whose conversation cannot be read",
      (times) => {
        const read = failing(times, new JournalUnavailable({ cause: "no answer" }), Effect.succeed(emptyLog))
        return { tries: read.tries, more: { sample, prompts: new Prompts(limits, () => read.effect) } }
      },
      sampling,
      "model.replied"
    ],
    [
      "whose profile cannot be read",
      (times) => {
        const toolkit = failing(times, away, Effect.succeed(emptyToolkit))
        return { tries: toolkit.tries, more: { sample, tools: { toolkit: () => toolkit.effect } } }
      },
      sampling,
      "model.replied"
    ],
    [
      "whose roles cannot be read",
      (times) => {
        const roles = failing(times, away, Effect.succeed([]))
        return {
          tries: roles.tries,
          more: {
            sample,
            tools: { toolkit: () => Effect.succeed({ ...emptyToolkit, definitions: () => roles.effect }) }
          }
        }
      },
      sampling,
      "model.replied"
    ],
    [
      "a call, whose roles cannot be read",
      (times) => {
        const run = failing(times, away, Effect.succeed({ output: 1 }))
        return {
          tries: run.tries,
          more: { tools: { toolkit: () => Effect.succeed({ ...emptyToolkit, run: () => run.effect }) } }
        }
      },
      running,
      "tool.returned"
    ],
    [
      "a call, whose profile cannot be read",
      (times) => {
        const toolkit = failing(
          times,
          away,
          Effect.succeed({ ...emptyToolkit, run: () => Effect.succeed({ output: 1 }) })
        )
        return { tries: toolkit.tries, more: { tools: { toolkit: () => toolkit.effect } } }
      },
      running,
      "tool.returned"
    ],
    [
      "a question to a hook, whose profile cannot be read",
      (times) => {
        const toolkit = failing(
          times,
          away,
          Effect.succeed({
            ...emptyToolkit,
            hooks: [
              {
                id: "hook_0",
                name: "h",
                point: "before_tool_call" as const,
                enabled: true,
                processor: { type: "client" as const }
              }
            ]
          })
        )
        return { tries: toolkit.tries, more: { tools: { toolkit: () => toolkit.effect } } }
      },
      asking,
      "hook.decided"
    ]
  ]

  it.effect.each(cases)("%s, waits with growing pauses, and begins as soon as it can", ([_, make, walked, type]) =>
    Effect.gen(function* () {
      const { more, tries } = make(8)
      const { perform } = yield* performing(more)
      const walk = walked()
      const job = yield* Effect.forkChild(perform(being(walk), jobOf(walk), start))
      const moments: Array<number> = []
      for (let ms = 0; job.pollUnsafe() === undefined && ms < 60_000; ms += 50) {
        const before = tries()
        yield* TestClock.adjust(50)
        if (tries() > before) moments.push(ms + 50)
      }
      const outcome = yield* Fiber.join(job)
      assert.strictEqual(outcome?.type, type)
      if (outcome?.type === "tool.returned") assert.deepInclude(outcome, { output: 1 })
      if (outcome?.type === "hook.decided") assert.strictEqual(outcome.decision, "allow")
      assert.strictEqual(tries(), 9)
      const pauses = moments.map((at, i) => at - (moments[i - 1] ?? 0))
      assert.deepStrictEqual(
        pauses.map((pause, i) => pause >= (pauses[i - 1] ?? 0)),
        pauses.map(() => true),
        `pauses: ${pauses.join(", ")}`
      )
      assert.isAtMost(Math.max(...pauses), 5_000)
      assert.isAtMost(pauses[0] ?? Infinity, 200)
    })
  )

  it.effect("stops trying when its turn ends", () =>
    Effect.gen(function* () {
      const read = failing(Infinity, new JournalUnavailable({ cause: "no answer" }), Effect.succeed(emptyLog))
      const { perform } = yield* performing({ prompts: new Prompts(limits, () => read.effect) })
      const walk = sampling()
      const job = yield* Effect.forkChild(perform(being(walk), jobOf(walk), start))
      yield* TestClock.adjust(30_000)
      assert.isUndefined(job.pollUnsafe())
      yield* Fiber.interrupt(job)
      const tried = read.tries()
      yield* TestClock.adjust(30_000)
      assert.strictEqual(read.tries(), tried)
    })
  )
})

describe("model calls under way", () => {
  it.effect("hold no more than their cap together: the others wait, in order", () =>
    Effect.gen(function* () {
      const under: Array<string> = []
      const { perform } = yield* performing({
        prompts: new Prompts({ keptBytes: 0, underWayBytes: 600 }, () => Effect.succeed(emptyLog)),
        sample: ({ prompt }) =>
          Effect.andThen(
            Effect.sync(() => {
              under.push(prompt.turnId)
            }),
            Effect.as(Effect.sleep(1_000), { text: "x", calls: [], usage, durationMs: 1 })
          )
      })
      const walks = ["A", "B", "C", "D", "E"].map((name) => new Walk().queue(name))
      const jobs = yield* Effect.forEach(walks, (walk) => Effect.forkChild(perform(being(walk), jobOf(walk), start)))
      const turns = walks.map(({ turn }) => turn.turnId)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(under, turns.slice(0, 2), "an empty prompt counts 250")
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(under, turns.slice(0, 4))
      yield* Fiber.interrupt(jobs[2] ?? assert.fail())
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(under, turns)
      yield* TestClock.adjust(5_000)
      for (const job of jobs) yield* Fiber.await(job)
    })
  )

  it.effect("hold no more images together either: they are counted before they are read", () =>
    Effect.gen(function* () {
      const imageId = `img_${"0".repeat(64)}`
      const image = { format: "png" as const, bytes: Buffer.alloc(1_000) }
      const walk = new Walk()
      walk.do(walk.submission("A", "queue", { content: [{ type: "image", imageId }] }))
      let [reads, under] = [0, 0]
      const { perform } = yield* performing({
        prompts: new Prompts({ keptBytes: 0, underWayBytes: 7_000 }, (_, after, types) =>
          Effect.succeed(logOfWalk(walk, after, types))
        ),
        images: {
          bytesOf: (_, ids) => Effect.succeed(ids.length * image.bytes.length),
          load: () =>
            Effect.sync(() => {
              reads++
              return new Map([[imageId, image]])
            })
        },
        sample: ({ prompt }) =>
          Effect.suspend(() => {
            under++
            assert.deepStrictEqual([...(prompt.images?.keys() ?? [])], [imageId])
            return Effect.as(Effect.sleep(1_000), { text: "x", calls: [], usage, durationMs: 1 })
          })
      })
      const jobs = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(perform(being(walk), jobOf(walk), start)))
      yield* TestClock.adjust(500)
      assert.deepStrictEqual([reads, under], [2, 2], "an image counts as its bytes, and the base64 that goes out")
      yield* TestClock.adjust(5_000)
      for (const job of jobs) yield* Fiber.await(job)
      assert.deepStrictEqual([reads, under], [4, 4])
    })
  )
})
