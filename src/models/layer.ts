/**
 * `Models` for a process: those of the providers that a key exists for, the operator's, and, where it has them, the
 * scripted ones.
 *
 * Samples are timed (`model_sample_duration`) and counted (`model_samples`), by provider and outcome.
 */
import { Cause, Effect, Exit, Layer } from "effect"
import { isDone } from "../now.ts"
import { record, sampleDuration, samples } from "../telemetry/metrics.ts"
import type { Backend } from "./Backend.ts"
import { type Env, realModels } from "./catalogue.ts"
import { ModelFailure, type ModelReply, Models } from "./Model.ts"
import { decodeModelsFile, type ModelsFile, ModelsFileInvalid, readModelsFile } from "./modelsFile.ts"
import { remoteBackend } from "./remote.ts"
import { scriptedModels } from "./scripted.ts"
import { type Aliases, makeResolveSelector } from "./selectors.ts"

export interface ModelsSettings {
  /** Where to look for keys and base URLs: the process's environment. */
  readonly env: Env
  /** The operator's file of models and prices (`TROUPE_MODELS`): its path, or the parsed JSON. */
  readonly modelsFile?: string | Readonly<Record<string, unknown>> | undefined
  /**
   * Whether the scripted models are there; default true. Where strangers write, they are not: with one of them whoever
   * sends a message writes the agent's tool calls, and no price holds them back.
   */
  readonly scripted?: boolean | undefined
  /** A provider that sends no byte for this long has failed; default 120 s. */
  readonly idleTimeoutMs?: number | undefined
}

/** Listings run newest first and a catalogue has no dates: constant moments, falling in the catalogue's order. */
const createdAt = (index: number) => new Date(Date.UTC(2025, 0, 1) - index * 1000).toISOString()

const unknownModel = (modelId: string) =>
  new ModelFailure({
    code: "model_unavailable",
    text: `no model ${modelId} is available here`,
    transient: false,
    unavailable: true
  })

const outcomeOf = (exit: Exit.Exit<ModelReply, ModelFailure>): string => {
  if (Exit.isSuccess(exit)) return "answered"
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  return failure !== undefined ? failure.error.code : Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "defect"
}

const measured = ({ entry, sample }: Backend): Backend => {
  const provider = entry.targets[0]?.provider ?? "unknown"
  const duration = sampleDuration.with({ provider })
  return {
    entry,
    sample: (request) =>
      Effect.suspend(() => {
        const started = performance.now()
        const note = (exit: Exit.Exit<ModelReply, ModelFailure>) => {
          record(samples.with({ provider, outcome: outcomeOf(exit) }))
          record(duration, (performance.now() - started) / 1000)
        }
        const reply = sample(request)
        // A model that answers at once is not waited for.
        if (isDone(reply)) {
          note(reply)
          return reply
        }
        return Effect.onExit(reply, (exit) => Effect.sync(() => note(exit)))
      })
  }
}

const fromBackends = (backends: ReadonlyArray<Backend>, aliases: Aliases) => {
  const list = backends.map(({ entry }) => entry)
  const usable = new Map(
    backends.filter(({ entry }) => entry.status !== "unavailable").map((backend) => [backend.entry.id, backend])
  )
  return Models.of({
    list,
    resolve: makeResolveSelector(list, aliases),
    sample: (request) => usable.get(request.modelId)?.sample(request) ?? Effect.fail(unknownModel(request.modelId))
  })
}

/** The scripted models alone: what tests and the bench stand on. */
export const layerScripted = Layer.sync(Models, () => fromBackends(scriptedModels(createdAt).map(measured), {}))

const noFile: ModelsFile = {}

export const layer = ({
  env,
  modelsFile,
  idleTimeoutMs = 120_000,
  scripted: withScripted = true
}: ModelsSettings): Layer.Layer<Models, ModelsFileInvalid> =>
  Layer.effect(
    Models,
    Effect.gen(function* () {
      const source = typeof modelsFile === "string" ? modelsFile : "(given)"
      const file =
        modelsFile === undefined
          ? noFile
          : typeof modelsFile === "string"
            ? yield* readModelsFile(modelsFile)
            : yield* decodeModelsFile(modelsFile, source)
      const scripted = withScripted ? scriptedModels(createdAt) : []
      const real = realModels(
        file,
        source,
        scripted.map(({ entry }) => entry.id),
        env,
        createdAt
      )
      if (real instanceof ModelsFileInvalid) return yield* real
      return fromBackends(
        [...scripted, ...real.map((remote) => remoteBackend(remote, idleTimeoutMs))].map(measured),
        file.aliases ?? {}
      )
    })
  )
