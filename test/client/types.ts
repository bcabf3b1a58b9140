/**
 * The client's types, made of the interface's own description: paths, parameters, bodies and what success answers.
 * Refusals are left out, since all are an ErrorResponse, and so are headers and examples.
 */
import openapiTypescript, { astToString, type OpenAPI3 } from "openapi-typescript"
import { join } from "node:path"
import { documentText } from "../http/document.ts"
import { isObject } from "../http/jsonSchema.ts"

export const committedTypes = join(import.meta.dirname, "../../src/client/types.ts")

const opening =
  "/** The interface as types. Made by `npm run openapi` of docs/openapi.json; a test holds it to the server. */\n"

const thinResponse = (response: unknown) => {
  if (!isObject(response)) return response
  const { headers: _, ...rest } = response
  return rest
}

const thinOperation = (operation: unknown) => {
  if (!isObject(operation)) return operation
  const { description: _, responses, ...rest } = operation
  return {
    ...rest,
    responses: Object.fromEntries(
      Object.entries(isObject(responses) ? responses : {})
        .filter(([status]) => status.startsWith("2"))
        .map(([status, response]) => [status, thinResponse(response)])
    )
  }
}

const thin = (): OpenAPI3 => {
  const document = JSON.parse(documentText)
  for (const path of Object.keys(document.paths))
    document.paths[path] = Object.fromEntries(
      Object.entries(document.paths[path]).map(([method, operation]) => [method, thinOperation(operation)])
    )
  delete document.components.headers
  return document
}

export const makeTypes = async () => opening + astToString(await openapiTypescript(thin(), { alphabetize: true }))
