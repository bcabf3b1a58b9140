/**
 * Which real models there are: those of the providers that a key exists for, and the operator's.
 *
 * K1. A model of the file adds to a known one of the same id, field by field.
 * K2. A model whose key is missing is listed as `unavailable` when the operator named it, and not at all otherwise.
 */
import { toTimestamp } from "../domain/time.ts"
import type { ModelEntry } from "./Model.ts"
import { type KnownModel, type KnownProvider, knownProviders } from "./knownModels.ts"
import { type ModelInFile, type ModelsFile, ModelsFileInvalid } from "./modelsFile.ts"
import { type ModelAccess, type ProviderKind, toRemote } from "./providers.ts"
import type { RemoteModel } from "./remote.ts"

export type Env = Readonly<Record<string, string | undefined>>

const filled = (text: string | undefined) => (text === undefined || text.trim() === "" ? undefined : text.trim())

const split = (id: string): [provider: string, name: string] => [
  id.slice(0, id.indexOf("/")),
  id.slice(id.indexOf("/") + 1)
]

const knownKind = (provider: string): KnownProvider | undefined => knownProviders.find(({ kind }) => kind === provider)

const featuresOf = (known: KnownModel | undefined, images: boolean): ModelEntry["features"] => {
  if (known === undefined) return images ? ["tools", "images"] : ["tools"]
  return ["tools", "images", ...(known.reasoning ? ["reasoning" as const] : []), "caching"]
}

interface Source {
  readonly id: string
  readonly kind: ProviderKind
  readonly known?: KnownModel | undefined
  readonly inFile?: ModelInFile | undefined
}

const toModel = ({ id, kind, known, inFile }: Source, env: Env, createdAt: string): RemoteModel => {
  const [provider, name] = split(id)
  const usual = knownKind(kind)
  const keyEnv = inFile?.apiKeyEnv ?? (inFile?.baseUrl === undefined ? usual?.apiKeyEnv : undefined)
  const apiKey = keyEnv === undefined ? undefined : filled(env[keyEnv])
  const inputFormats = inFile?.inputFormats ?? (known === undefined ? [] : (usual?.inputFormats ?? []))
  const maxOutputTokens = inFile?.maxOutputTokens ?? known?.maxOutputTokens
  const entry: ModelEntry = {
    id,
    displayName: inFile?.displayName ?? known?.displayName ?? name,
    ...(inFile?.contextWindow === undefined ? {} : { contextWindow: inFile.contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    inputFormats,
    features: inFile?.features ?? featuresOf(known, inputFormats.length > 0),
    ...(inFile?.pricing === undefined ? {} : { pricing: inFile.pricing }),
    status: keyEnv !== undefined && apiKey === undefined ? "unavailable" : (inFile?.status ?? "available"),
    ...(inFile?.retiresAt === undefined ? {} : { retiresAt: toTimestamp(Date.parse(inFile.retiresAt)) }),
    targets: [{ id, provider, inputFormats }],
    createdAt
  }
  const access: ModelAccess = {
    kind,
    api: inFile?.api ?? "responses",
    provider,
    name: inFile?.name ?? name,
    apiKey,
    baseUrl: inFile?.baseUrl ?? (usual === undefined ? undefined : filled(env[usual.baseUrlEnv]))
  }
  return toRemote(entry, access)
}

/** What the schema cannot see: a provider that nobody knows, an address that is missing, an alias of nothing. */
const problemOf = (file: ModelsFile, builtIn: ReadonlyArray<string>): string | undefined => {
  for (const [index, model] of (file.models ?? []).entries()) {
    const [provider] = split(model.id)
    const kind = model.provider ?? knownKind(provider)?.kind
    if (kind === undefined)
      return `models[${index}].provider: ${provider} is not a provider with an address of its own; say which kind it is`
    if (kind === "openai-compatible" && model.baseUrl === undefined)
      return `models[${index}].baseUrl: an openai-compatible model needs one`
  }
  const ids = new Set([
    ...builtIn,
    ...(file.models ?? []).map(({ id }) => id),
    ...knownProviders.flatMap(({ kind, models }) => models.map(({ name }) => `${kind}/${name}`))
  ])
  const selectors = new Set([...ids].flatMap((id) => [id, `${split(id)[0]}/*`]))
  for (const [alias, meanings] of Object.entries(file.aliases ?? {})) {
    const at = meanings.findIndex((selector) => !selectors.has(selector))
    if (at >= 0) return `aliases.${alias}[${at}]: no model ${meanings[at] ?? ""} is known`
  }
  return undefined
}

/** Real models in the catalogue's order: known ones as their provider ranks them, then the file's own. */
export const realModels = (
  file: ModelsFile,
  source: string,
  builtIn: ReadonlyArray<string>,
  env: Env,
  createdAt: (index: number) => string
): ReadonlyArray<RemoteModel> | ModelsFileInvalid => {
  const reason = problemOf(file, builtIn)
  if (reason !== undefined) return new ModelsFileInvalid({ source, reason })
  const inFile = new Map((file.models ?? []).map((model) => [model.id, model]))
  const sources: Array<Source> = []
  for (const { kind, apiKeyEnv, models } of knownProviders) {
    for (const known of models) {
      const id = `${kind}/${known.name}`
      const override = inFile.get(id)
      inFile.delete(id)
      if (override !== undefined || filled(env[apiKeyEnv]) !== undefined) {
        sources.push({ id, kind: override?.provider ?? kind, known, inFile: override })
      }
    }
  }
  for (const model of inFile.values()) {
    const kind = model.provider ?? knownKind(split(model.id)[0])?.kind
    if (kind !== undefined) sources.push({ id: model.id, kind, inFile: model })
  }
  return sources.map((each, index) => toModel(each, env, createdAt(builtIn.length + index)))
}
