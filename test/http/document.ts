/**
 * The interface's own description as tests read it: the OpenAPI document that this code generates, taken apart into
 * operations.
 */
import { OpenApi } from "effect/http-api"
import { join } from "node:path"
import { type CredentialKind, credentialKinds } from "../../http/access.ts"
import { Api } from "../../http/Api.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import { scopes } from "../../src/keys/scopes.ts"
import { isObject, listAt, type Schema, schemaAt, type Schemas } from "./jsonSchema.ts"

/** As it is served and committed, key by key in this order. */
export const documentText = `${JSON.stringify(OpenApi.fromApi(Api), null, 1)}\n`
export const document: unknown = JSON.parse(documentText)
export const committed = join(import.meta.dirname, "../../docs/openapi.json")

export const objectAt = (value: unknown, ...keys: ReadonlyArray<string>): Schema =>
  keys.reduce<Schema>((found, key) => schemaAt(found, key) ?? {}, isObject(value) ? value : {})

export const schemas: Schemas = Object.fromEntries(
  Object.entries(objectAt(document, "components", "schemas")).filter((entry): entry is [string, Schema] =>
    isObject(entry[1])
  )
)

export interface Operation {
  readonly method: string
  readonly path: string
  /** Of its path's parameters, in their order. */
  readonly names: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<Schema>
  readonly body: Schema | undefined
  /** The example that the reference shows. */
  readonly example: unknown
  readonly responses: Schema
  /** One of these is enough. */
  readonly scopes: ReadonlyArray<Scope>
  readonly schemes: ReadonlyArray<string>
  /** Whose credentials it takes. */
  readonly credentials: ReadonlyArray<CredentialKind>
}

export const operations: ReadonlyArray<Operation> = Object.entries(objectAt(document, "paths")).flatMap(
  ([path, methods]) =>
    Object.entries(objectAt(methods)).map(([method, operation]): Operation => {
      const media = objectAt(operation, "requestBody", "content", "application/json")
      const named = new Set(String(objectAt(operation)["x-required-scope"]).split(" or "))
      return {
        method: method.toUpperCase(),
        path,
        names: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!),
        parameters: listAt(objectAt(operation), "parameters").filter(isObject),
        body: schemaAt(media, "schema"),
        example: objectAt(media, "examples", "default").value,
        responses: objectAt(operation, "responses"),
        scopes: scopes.filter((scope) => named.has(scope)),
        credentials: credentialKinds.filter((kind) => listAt(objectAt(operation), "x-credentials").includes(kind)),
        schemes: listAt(objectAt(operation), "security").flatMap((scheme) => Object.keys(objectAt(scheme)))
      }
    })
)

/** The headers of an answer; those that many have are described in one place. */
export const headersOf = (response: unknown): ReadonlyArray<readonly [name: string, header: Schema]> =>
  Object.entries(objectAt(response, "headers")).map(([name, header]) => {
    const { $ref } = objectAt(header)
    return [name, typeof $ref === "string" ? objectAt(document, ...$ref.slice(2).split("/")) : objectAt(header)]
  })

export const titleOf = ({ method, path }: Operation) => `${method} ${path}`
export const schemaOf = (parameter: Schema): Schema => schemaAt(parameter, "schema") ?? {}
export const isIn = (place: string) => (parameter: Schema) => parameter.in === place

/** The prefix of the ids that a pattern is about; undefined where it is about something else. */
export const prefixOf = (schema: Schema): string | undefined =>
  /^\^([a-z]+_)\[0-7\]/.exec(String(schema.pattern ?? ""))?.[1]
