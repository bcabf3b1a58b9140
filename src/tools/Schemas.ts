/**
 * Strangers' schemas and values, judged without holding the node: the one way to ask whether a schema can be used, and
 * whether a value fits it. The work is done in threads (../judging/JudgingThreads.ts), in a line that is fair to
 * workspaces.
 *
 * V1. Reading schemas has a line and a budget of its own: a large toolset that is registered delays no call.
 */
import { Context, Data, Effect, Layer } from "effect"
import { isJsonObject, nestsDeeper } from "../domain/jsonValue.ts"
import { limits } from "../domain/limits.ts"
import { mustBeInstalled } from "../loading.ts"
import { record, schemaChecks, schemaChecksWaiting, schemaCpu, schemaThreadsDied } from "../telemetry/metrics.ts"
import { JudgingThreads, type ThreadLimits, type Without } from "../judging/JudgingThreads.ts"
import type { SchemaAnswer, SchemaQuestion } from "./schemaThread.ts"

export const schemaLimits: ThreadLimits = {
  threads: 2,
  checkMs: 200,
  wallMs: 1_000,
  lineMs: 10_000,
  budget: { ms: 200, windowMs: 5_000 }
}

/** Nobody knows whether it fits; the message says why, and that the value may be right. */
export class Unjudged extends Data.TaggedError("Unjudged")<{ readonly reason: Without; readonly message: string }> {}

export class Schemas extends Context.Service<
  Schemas,
  {
    /** Why a schema cannot be used; undefined where it can. */
    readonly unusable: (workspace: string, schema: unknown) => Effect.Effect<string | undefined, Unjudged>
    /** What is wrong with a value, with its path; undefined where it fits. */
    readonly misfit: (workspace: string, schema: unknown, value: unknown) => Effect.Effect<string | undefined, Unjudged>
  }
>()("troupe/tools/Schemas") {
  static readonly layerOf = (options: ThreadLimits) =>
    Layer.effect(
      Schemas,
      Effect.suspend(() => make(options))
    )
  static readonly layer = Schemas.layerOf(schemaLimits)
}

const tooDeep = `nests deeper than ${limits.jsonDepth} levels`
const noObject = "must be an object"

const make = Effect.fnUntraced(function* (options: ThreadLimits) {
  const { budget, checkMs, lineMs } = options
  const texts: { readonly [W in Without]: string } = {
    slow: `the schema is too slow: it takes more than ${checkMs} ms over one value, which may be right`,
    busy:
      `the workspace's schemas have used up their ${budget.ms} ms in ${budget.windowMs / 1_000} s, and this ` +
      "one's turn did not come within " +
      `${lineMs / 1_000} s; the value may be right`,
    broken: "the check broke twice, perhaps for want of memory; the value may be right"
  }
  const run = Effect.runForkWith(yield* Effect.context<never>())
  // Only the threads load them.
  for (const name of ["ajv", "ajv-formats"]) mustBeInstalled(name)
  const threads = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new JudgingThreads<SchemaQuestion, SchemaAnswer>(
          options,
          {
            waiting: (count) => record(schemaChecksWaiting, count),
            spent: (ms) => record(schemaCpu, ms / 1_000),
            died: (cause) => {
              record(schemaThreadsDied)
              run(Effect.logWarning("a thread that checks schemas has died: it is replaced", cause))
            }
          },
          new URL("./schemaThread.ts", import.meta.url)
        )
    ),
    (threads) => Effect.sync(() => threads.close())
  )

  const ask = (workspace: string, question: SchemaQuestion) =>
    Effect.callback<string | undefined, Unjudged>((resume) => {
      // V1.
      const payer = question.value === undefined ? `${workspace} reads` : workspace
      const withdraw = threads.ask(payer, question, (judgement) => {
        const outcome = "answer" in judgement ? "judged" : judgement.without
        record(schemaChecks.with({ outcome }))
        resume(
          "answer" in judgement
            ? Effect.succeed(judgement.answer.problem)
            : Effect.fail(new Unjudged({ reason: judgement.without, message: texts[judgement.without] }))
        )
      })
      return Effect.sync(withdraw)
    })

  /** Whoever asks with the same object again and again has its text made once. */
  const known = new WeakMap<object, string>()
  const textOf = (schema: object) => {
    const held = known.get(schema)
    if (held !== undefined) return held
    if (nestsDeeper(schema, limits.jsonDepth)) return undefined
    const text = JSON.stringify(schema)
    known.set(schema, text)
    return text
  }

  return Schemas.of({
    unusable: (workspace, schema) => {
      if (!isJsonObject(schema)) return Effect.succeed(noObject)
      const text = textOf(schema)
      if (text === undefined) return Effect.succeed(tooDeep)
      return Effect.catchIf(
        ask(workspace, { schema: text }),
        ({ reason }) => reason === "slow",
        () => Effect.succeed("takes too long to read")
      )
    },
    misfit: (workspace, schema, value) => {
      const text = isJsonObject(schema) ? textOf(schema) : undefined
      if (text === undefined)
        return Effect.succeed(`the schema cannot be used: ${isJsonObject(schema) ? tooDeep : noObject}`)
      if (nestsDeeper(value, limits.jsonDepth)) return Effect.succeed(tooDeep)
      return ask(workspace, { schema: text, value: JSON.stringify(value) ?? "null" })
    }
  })
})
