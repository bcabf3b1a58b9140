/** Hostile schemas, values and threads: each ends its own check, and neither the event loop nor a neighbour's. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, ManagedRuntime, Scope } from "effect"
import { type Judgement, JudgingThreads, type ThreadLimits } from "../../src/judging/JudgingThreads.ts"
import { schemaLimits, Schemas, type Unjudged } from "../../src/tools/Schemas.ts"
import type { SchemaAnswer, SchemaQuestion } from "../../src/tools/schemaThread.ts"
import { metric } from "../metric.ts"
import { eventually } from "../waiting.ts"

/** Room for tests that are not about it. */
const ample = { ms: 100_000, windowMs: 100_000 }

const runtime = ManagedRuntime.make(Schemas.layerOf({ ...schemaLimits, budget: ample }))
const run = <A, E>(work: (schemas: Schemas["Service"]) => Effect.Effect<A, E>) =>
  runtime.runPromise(Effect.flatMap(Schemas, work))
/** Starts threads and warms them: what follows is about schemas. */
const warm = (schemas: Schemas["Service"]) =>
  Effect.all(
    ["w1", "w2"].map((workspace) => schemas.misfit(workspace, {}, 1)),
    { concurrency: 2 }
  )
beforeAll(() => run(warm))
afterAll(() => runtime.dispose())

const misfit = (schema: unknown, value: unknown, workspace = "w1") =>
  run((schemas) =>
    Effect.catch(schemas.misfit(workspace, schema, value), ({ reason }: Unjudged) => Effect.succeed({ reason }))
  )
const unusable = (schema: unknown) => run((schemas) => schemas.unusable("w1", schema))

/** Milliseconds of its processor time that this thread, whose event loop is a node's, has given for something. */
const held = async (work: () => Promise<void>) => {
  const before = process.threadCpuUsage()
  await work()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1_000
}

const nested = (levels: number): unknown => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } })
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

/** Thousands of states, in a few characters. */
const manyStates = { type: "object", properties: { s: { type: "string", pattern: `^${"(?:.?){900}".repeat(5)}$` } } }
const huge = {
  properties: Object.fromEntries(
    Array.from({ length: 6_000 }, (_, i) => [
      `p${i}`,
      { anyOf: [{ type: "object", properties: { a: { enum: [i] } } }, { maxLength: i }] }
    ])
  )
}
const slow = { pattern: "^(?=(a+)+$)b" }
const long = `${"a".repeat(40)}!`

describe("a value", () => {
  it("fits, or says where it does not", async () => {
    const schema = {
      type: "object",
      properties: { items: { type: "array", items: { type: "integer" } } },
      required: ["items"]
    }
    assert.isUndefined(await misfit(schema, { items: [1] }))
    assert.strictEqual(await misfit(schema, { items: [1, "2"] }), "items[1]: must be integer")
    assert.strictEqual(await misfit(schema, undefined), "must be object")
  })

  it("nests at most 64 levels, as its schema", async () => {
    assert.isUndefined(await misfit({}, deep(64)))
    for (const levels of [65, 5_000]) assert.strictEqual(await misfit({}, deep(levels)), "nests deeper than 64 levels")
    assert.strictEqual(await misfit(nested(33), {}), "the schema cannot be used: nests deeper than 64 levels")
    assert.strictEqual(await unusable(nested(5_000)), "nests deeper than 64 levels")
  })

  it("is judged by no schema that cannot be used", async () => {
    assert.strictEqual(await unusable([]), "must be an object")
    assert.strictEqual(await unusable({ minimum: "1" }), "minimum: must be number")
    assert.strictEqual(await misfit({ minimum: "1" }, 1), "the schema cannot be used: minimum: must be number")
    assert.strictEqual(await misfit("x", 1), "the schema cannot be used: must be an object")
  })
})

describe("a check that takes more than 200 ms is given up, and does not hold the event loop:", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      i === 39 ? { type: "integer" } : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }
    ])
  )
  for (const [what, schema, value] of [
    ["a pattern of many states", manyStates, { s: "a".repeat(7_000) }],
    ["a pattern with look-around", slow, long],
    ["references that double with every step", { $ref: "#/$defs/d0", $defs: doubling }, 1],
    [
      "a list of which each item is held against each",
      { uniqueItems: true },
      Array.from({ length: 60_000 }, (_, i) => ({ i }))
    ],
    [
      "an enumeration of thousands, for a list of thousands",
      { items: { enum: Array.from({ length: 2_000 }, (_, i) => ({ i })) } },
      Array.from({ length: 20_000 }, () => ({ i: 1_999 }))
    ]
  ] as const) {
    it(what, async () => {
      const busy = await held(async () => assert.deepStrictEqual(await misfit(schema, value), { reason: "slow" }))
      assert.isBelow(busy, 100)
      assert.isUndefined(await misfit({}, 1))
    })
  }

  it("reading a schema of thousands of properties", async () => {
    const busy = await held(async () => assert.strictEqual(await unusable(huge), "takes too long to read"))
    assert.isBelow(busy, 100)
  })
})

it("a schema whose references are a maze cannot be used", async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, i) => [
      `d${i}`,
      { anyOf: [{ $ref: `#/$defs/d${(i * 7 + 1) % 3_000}` }, { $ref: `#/$defs/d${(i * 11 + 5) % 3_000}` }] }
    ])
  )
  // Whether its time or its stack is over first is the machine's to say.
  assert.include(
    ["its references lead too deep", "takes too long to read"],
    await unusable({ $ref: "#/$defs/d0", $defs })
  )
})

it("says that the schema is too slow, and not that the value is wrong", async () => {
  const said = await run((schemas) => Effect.flip(schemas.misfit("w1", slow, long)))
  assert.strictEqual(
    said.message,
    "the schema is too slow: it takes more than 200 ms over one value, which may be right"
  )
})

it("a schema that was too slow for one value is asked again for the next", async () => {
  assert.deepStrictEqual(await misfit(slow, long), { reason: "slow" })
  assert.strictEqual(await misfit(slow, "a"), `must match pattern "${slow.pattern}"`)
})

/** A world of its own, with other limits. */
const within = async (limits: Partial<ThreadLimits>, work: (schemas: Schemas["Service"]) => Promise<void>) => {
  const own = ManagedRuntime.make(Schemas.layerOf({ ...schemaLimits, ...limits }))
  try {
    const schemas = await own.runPromise(Schemas)
    await Effect.runPromise(warm(schemas))
    await work(schemas)
  } finally {
    await own.dispose()
  }
}
const since = (began: number) => performance.now() - began
const ask = (schemas: Schemas["Service"], workspace: string, schema: unknown, value: unknown) =>
  Effect.runPromise(Effect.exit(schemas.misfit(workspace, schema, value)))
const reasonOf = (exit: Exit.Exit<unknown, Unjudged>) =>
  Exit.isFailure(exit)
    ? exit.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? [reason.error.reason] : []))
    : []

describe("a workspace that has used up its budget", () => {
  it("waits until it has some again, while others go on", () =>
    within({ budget: { ms: 200, windowMs: 2_000 } }, async (schemas) => {
      const began = performance.now()
      assert.deepStrictEqual(reasonOf(await ask(schemas, "mine", slow, long)), ["slow"])
      const mine = ask(schemas, "mine", {}, 1).then(() => since(began))
      const others: Array<number> = []
      for (let i = 0; i < 20; i++) {
        const asked = performance.now()
        assert.isTrue(Exit.isSuccess(await ask(schemas, `other${i}`, {}, 1)))
        others.push(since(asked))
      }
      assert.isBelow(Math.max(...others), 500)
      // 200 ms for the late check, and what the next thread took to start, are paid back at a tenth of the time.
      assert.isAbove(await mine, 600)
    }))

  it("is told so once it has waited for long", () =>
    within({ budget: { ms: 200, windowMs: 60_000 }, lineMs: 2_000 }, async (schemas) => {
      await ask(schemas, "mine", slow, long)
      await ask(schemas, "mine", slow, long)
      const began = performance.now()
      const exit = await ask(schemas, "mine", {}, 1)
      assert.deepStrictEqual(reasonOf(exit), ["busy"])
      assert.isAtLeast(since(began), 1_990)
    }))

  it("leaves nothing behind of a check that nobody waits for any more", () =>
    within({ budget: { ms: 200, windowMs: 60_000 } }, async (schemas) => {
      await ask(schemas, "mine", slow, long)
      await ask(schemas, "mine", slow, long)
      const fiber = Effect.runFork(schemas.misfit("mine", {}, 1))
      await eventually(
        async () => (await Effect.runPromise(metric("schema_checks_waiting"))) === 1,
        "it stands in line"
      )
      await Effect.runPromise(Fiber.interrupt(fiber))
      assert.isTrue(Exit.isSuccess(await ask(schemas, "other", {}, 1)))
    }))
})

it("one workspace's late check does not hold up another's for its time", () =>
  within({ budget: ample }, async (schemas) => {
    let over = 0
    const late = Array.from({ length: 3 }, () =>
      ask(schemas, "mine", slow, long).finally(() => {
        over++
      })
    )
    assert.isTrue(Exit.isSuccess(await ask(schemas, "other", {}, 1)))
    assert.isAtMost(over, 1)
    for (const exit of await Promise.all(late)) assert.deepStrictEqual(reasonOf(exit), ["slow"])
  }))

it("a workspace pays for what cannot be cut short, and is asked nothing more until it has ended", async () => {
  let spent = 0
  const threads = new JudgingThreads<SchemaQuestion, SchemaAnswer>(
    { ...schemaLimits, budget: ample },
    {
      waiting: () => {},
      spent: (ms) => {
        spent += ms
      },
      died: () => {}
    },
    new URL("../../src/tools/schemaThread.ts", import.meta.url)
  )
  const judge = (schema: unknown) =>
    new Promise<Judgement<SchemaAnswer>>((resolve) =>
      threads.ask("w1", { schema: JSON.stringify(schema), value: '"a"' }, resolve)
    )
  assert.deepStrictEqual(await judge({}), { answer: { problem: undefined } })
  spent = 0
  const began = performance.now()
  // The engine makes its program in one step, which takes seconds.
  assert.deepStrictEqual(await judge({ pattern: `(?=a)(?:${".?".repeat(30_000)})` }), { without: "slow" })
  assert.deepStrictEqual(await judge({}), { answer: { problem: undefined } })
  // The start of a thread aside, all the time was the pattern's.
  assert.isAbove(spent, since(began) * 0.7)
  threads.close()
})

it("a large toolset that is read delays no check of its workspace", () =>
  within({ budget: { ms: 200, windowMs: 60_000 } }, async (schemas) => {
    assert.strictEqual(await Effect.runPromise(schemas.unusable("mine", huge)), "takes too long to read")
    const fiber = Effect.runFork(schemas.unusable("mine", {}))
    assert.isTrue(Exit.isSuccess(await ask(schemas, "mine", {}, 1)))
    assert.isUndefined(fiber.pollUnsafe())
    await Effect.runPromise(Fiber.interrupt(fiber))
  }))

describe("a thread", () => {
  const odd = new URL("./oddThread.ts", import.meta.url)
  const died: Array<unknown> = []
  const threads = new JudgingThreads<SchemaQuestion, SchemaAnswer>(
    { ...schemaLimits, threads: 1, budget: ample },
    { waiting: () => {}, spent: () => {}, died: (cause) => died.push(cause) },
    odd
  )
  afterAll(() => threads.close())
  const judge = (schema: unknown) =>
    new Promise<Judgement<SchemaAnswer>>((resolve) =>
      threads.ask("w1", { schema: JSON.stringify(schema), value: "1" }, resolve)
    )

  it("that dies is replaced, and what it held is tried once more", async () => {
    assert.deepStrictEqual(await judge({}), { answer: { problem: undefined } })
    assert.deepStrictEqual(await judge({ title: "dies of old age" }), { answer: { problem: undefined } })
    assert.deepStrictEqual(died.splice(0), ["it ended with code 1"])
  })

  it("takes two threads with it at most: then its check is broken, and others go on", async () => {
    assert.deepStrictEqual(await judge({ title: "always dies" }), { without: "broken" })
    assert.lengthOf(died.splice(0), 2)
    assert.deepStrictEqual(await judge({ type: "string" }), { answer: { problem: "must be string" } })
  })

  it("sees no environment, reads no file once it is ready, starts no program or thread, and reaches nobody", async () => {
    const said = await judge({ title: "looks around" })
    assert.deepStrictEqual("answer" in said && JSON.parse(said.answer.problem ?? "null"), {
      env: [],
      argv: [],
      environ: "ERR_ACCESS_DENIED",
      file: "ERR_ACCESS_DENIED",
      spawned: "ERR_ACCESS_DENIED",
      reached: "ERR_ACCESS_DENIED",
      begun: "ERR_ACCESS_DENIED"
    })
  })
})

it("ends at once with its node, in the middle of a check that would never end", async () => {
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(
    Layer.buildWithScope(Schemas.layerOf({ ...schemaLimits, checkMs: 60_000, wallMs: 60_000 }), scope)
  )
  const schemas = Context.get(context, Schemas)
  assert.isTrue(Exit.isSuccess(await ask(schemas, "w1", {}, 1)))
  const endless = Effect.runPromise(Effect.flip(schemas.misfit("w1", slow, long)))
  // Asked later, and answered by a thread that has to be started: the other one is in its check by then.
  assert.isTrue(Exit.isSuccess(await ask(schemas, "w2", {}, 1)))
  const began = performance.now()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  assert.strictEqual((await endless).reason, "broken")
  assert.isBelow(since(began), 200)
})
