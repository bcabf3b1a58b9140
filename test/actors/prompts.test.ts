/** The conversation that a model reads (M1 to M3), from threads that the machine has walked. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Prompts } from "../../actors/thread/memory/prompts.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import type { PromptMessage } from "../../src/models/Model.ts"
import { freshId } from "../../src/seed.ts"
import { Walk } from "../machines/Walk.ts"
import { call, turnOf } from "../machines/WalkCommands.ts"
import { logOfWalk } from "./walkLog.ts"

const ref = (): ActorRef => ({ workspace: freshId("workspace"), kind: "thread", id: freshId("thread") })

const reading = (walk: Walk) => (_: ActorRef, after: number, types: ReadonlyArray<string>) =>
  Effect.succeed(logOfWalk(walk, after, types))

const whole = (walk: Walk) => ({ from: 0, to: walk.log.length })

const cold = (walk: Walk) =>
  Effect.runSync(
    new Prompts({ keptBytes: 1_000_000, underWayBytes: 1_000_000 }, reading(walk)).upTo(ref(), whole(walk))
  )

const short = (messages: ReadonlyArray<PromptMessage>) =>
  messages.map((message) => {
    switch (message.role) {
      case "summary":
        return `summary ${message.text}`
      case "user":
        return `user ${message.content.map((block) => (block.type === "text" ? block.text : "image")).join()}`
      case "assistant":
        return `assistant ${JSON.stringify(message.text)}${message.calls.map(({ name }) => ` ${name}`).join("")}`
      case "tool":
        return `tool ${message.name}${message.failure === undefined ? "" : `: ${message.failure.code}`}`
    }
  })

describe("a prompt", () => {
  it("has a response's text and its calls in one message, and every call has its result", () => {
    const walk = new Walk()
      .queue("A")
      .reply("I look.", call("a"), call("b"))
      .returns(1)
      .returns(0, { code: "tool_not_found", text: "no" })
    assert.deepStrictEqual(short(cold(walk)), ["user A", 'assistant "I look." a b', "tool b", "tool a: tool_not_found"])
  })

  it("tells responses apart, also those without text", () => {
    const walk = new Walk()
      .queue("A")
      .reply("", call("a"))
      .returns()
      .reply("", call("b"))
      .returns()
      .steer("S")
      .reply("x")
    assert.deepStrictEqual(short(cold(walk)), [
      "user A",
      'assistant "" a',
      "tool a",
      'assistant "" b',
      "tool b",
      'assistant "x"',
      "user S"
    ])
  })

  it("leaves a retried turn out, with its steers and calls, and keeps what came before", () => {
    const walk = new Walk().queue("A").reply().queue("B").reply("", call("a")).steer("S").returns().fail()
    walk.do(walk.submission("R", "queue", { retryOf: turnOf("B") }))
    assert.deepStrictEqual(short(cold(walk)), ["user A", 'assistant "done"', "user R"])
  })

  it("keeps the summary that was made in a retried turn: it stands for the turns before that one", () => {
    const walk = new Walk().queue("A").reply().queue("B").compacts().summarises({ summary: "Of A." })
    walk.reply("", call("a")).returns().fail()
    walk.do(walk.submission("R", "queue", { retryOf: turnOf("B") }))
    assert.deepStrictEqual(short(cold(walk)), ["summary Of A.", "user R"])
  })

  it("keeps a turn that failed or was cancelled when nobody retried it", () => {
    const walk = new Walk().queue("A").reply("", call("a")).cancel().queue("B")
    assert.deepStrictEqual(short(cold(walk)), ["user A", 'assistant "" a', "tool a: turn_interrupted", "user B"])
  })

  it("holds what must go back to the provider", () => {
    const walk = new Walk().queue("A")
    walk.do({ ...walk.response("", [call("a")]), parts: [{ signature: "s" }] }).returns()
    assert.deepInclude(cold(walk)[1] ?? {}, { role: "assistant", parts: [{ signature: "s" }] })
  })
})

describe("a kept prompt", () => {
  /** Prompts that keep so many bytes, and how often they read the journal. */
  const keeping = (bytes: number, walks: ReadonlyMap<string, Walk>) => {
    let reads = 0
    const prompts = new Prompts({ keptBytes: bytes, underWayBytes: bytes }, (actor, after, types) => {
      reads++
      return reading(walks.get(actor.id) ?? new Walk())(actor, after, types)
    })
    return { prompts, reads: () => reads }
  }

  /** The least cap that keeps the walk's prompt beside another one. */
  const sizeOf = (walk: Walk) => {
    const [one, other] = [ref(), ref()]
    for (let bytes = 100; ; bytes += 100) {
      const { prompts, reads } = keeping(
        2 * bytes,
        new Map([
          [one.id, walk],
          [other.id, walk]
        ])
      )
      for (const thread of [one, other, one]) Effect.runSync(prompts.upTo(thread, whole(walk)))
      if (reads() === 2) return bytes
    }
  }

  it("counts what goes back to the provider, and a character that is not Latin as two bytes", () => {
    const saying = (text: string, parts?: unknown) => {
      const walk = new Walk().queue("A")
      return walk.do({ ...walk.response(text), ...(parts === undefined ? {} : { parts }) })
    }
    const plain = sizeOf(saying("short"))
    const thought = "x".repeat(10_000)
    assert.isAtLeast(
      sizeOf(saying("short", [{ type: "reasoning", text: thought, signature: thought }])) - plain,
      20_000
    )
    assert.isAtLeast(sizeOf(saying("ж".repeat(10_000))) - plain, 20_000)
  })

  it("is the whole log once when two read it at the same time", () => {
    const thread = ref()
    const walk = new Walk().queue("A").reply("", call("a")).returns().reply()
    const gate = Effect.runSync(Deferred.make<void>())
    const prompts = new Prompts({ keptBytes: 1_000_000, underWayBytes: 1_000_000 }, (actor, after, types) =>
      Effect.andThen(Deferred.await(gate), reading(walk)(actor, after, types))
    )
    const both = Effect.runFork(
      Effect.all([prompts.upTo(thread, whole(walk)), prompts.upTo(thread, whole(walk))], { concurrency: 2 })
    )
    Effect.runSync(Deferred.succeed(gate, undefined))
    return Effect.runPromise(Fiber.join(both)).then((found) => assert.deepStrictEqual(found, [cold(walk), cold(walk)]))
  })

  it("grows with the facts, is what a cold one is after each, and is read once", () => {
    const thread = ref()
    const walk = new Walk()
    const { prompts, reads } = keeping(1_000_000, new Map([[thread.id, walk]]))
    const steps: ReadonlyArray<(walk: Walk) => Walk> = [
      (w) => w.queue("A"),
      (w) => w.reply("", call("a"), call("b")),
      (w) => w.returns(),
      (w) => w.steer("S"),
      (w) => w.returns(),
      (w) => w.fail(),
      (w) => w.do(w.submission("R", "queue", { retryOf: turnOf("A") })),
      (w) => w.reply()
    ]
    // A birth brings no facts.
    prompts.committed(thread.id, walk.context, [])
    for (const step of steps) {
      const { pos, seq } = walk.context
      step(walk)
      const facts = walk.log.slice(pos)
      prompts.committed(thread.id, { pos, seq }, facts)
      assert.deepStrictEqual(Effect.runSync(prompts.upTo(thread, whole(walk))), cold(walk))
    }
    assert.strictEqual(reads(), 0, "a thread that is just born is kept from its first fact")
  })

  it("is not changed by what its reader does with it", () => {
    const thread = ref()
    const walk = new Walk().queue("A").reply()
    const { prompts } = keeping(1_000_000, new Map([[thread.id, walk]]))
    const first = Effect.runSync(prompts.upTo(thread, whole(walk)))
    first.splice(0)
    assert.deepStrictEqual(Effect.runSync(prompts.upTo(thread, whole(walk))), cold(walk))
  })

  it("goes when there are too many, the one that was not used for longest first", () => {
    const threads = [ref(), ref(), ref()]
    const walk = new Walk().queue("A").reply()
    const { prompts, reads } = keeping(2 * sizeOf(walk), new Map(threads.map(({ id }) => [id, walk])))
    const read = (place: number) => {
      const before = reads()
      assert.deepStrictEqual(
        Effect.runSync(prompts.upTo(threads[place] ?? assert.fail("no thread"), whole(walk))),
        cold(walk)
      )
      return reads() - before
    }
    assert.deepStrictEqual([read(0), read(1), read(2)], [1, 1, 1])
    assert.deepStrictEqual([read(2), read(1)], [0, 0], "two have room")
    assert.strictEqual(read(0), 1, "the first had to go")
  })

  it("takes its place once, though two have read it at the same time", async () => {
    const [first, second] = [ref(), ref()]
    const walk = new Walk().queue("A").reply()
    const gate = Deferred.makeUnsafe<void>()
    let reads = 0
    const prompts = new Prompts({ keptBytes: 2 * sizeOf(walk), underWayBytes: 1_000_000 }, (actor, after, types) =>
      Effect.andThen(Deferred.await(gate), () => {
        reads++
        return reading(walk)(actor, after, types)
      })
    )
    const read = (thread: ActorRef) => prompts.upTo(thread, whole(walk))
    const both = Effect.runFork(Effect.all([read(first), read(first)], { concurrency: 2 }))
    Effect.runSync(Deferred.succeed(gate, undefined))
    await Effect.runPromise(Fiber.join(both))
    await Effect.runPromise(read(second))
    assert.deepStrictEqual(await Effect.runPromise(read(first)), cold(walk))
    assert.strictEqual(reads, 3, "two have room")
  })
})

describe("reads of conversations", () => {
  it("are over when whoever reads is interrupted, wherever its fiber pauses", async () => {
    const prompts = new Prompts({ keptBytes: 1_000_000, underWayBytes: 1_000_000 }, () => Effect.never)
    // A fiber pauses after some 2,000 steps.
    for (let steps = 1_900; steps < 2_100; steps++) {
      const fiber = Effect.runFork(
        Effect.gen(function* () {
          for (let i = 0; i < steps; i++) yield* Effect.sync(() => {})
          yield* prompts.upTo(ref(), { from: 0, to: 10 })
        })
      )
      fiber.interruptUnsafe()
      await Effect.runPromise(Effect.exit(Fiber.join(fiber)))
      assert.strictEqual(prompts.reading, 0)
    }
  })
})
