/** Whole numbers of a query as large as the document allows, which no column may be too narrow to be compared with. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { startServer, type TestServer } from "../setup/server.ts"
import { isIn, type Operation, operations, schemaOf, titleOf } from "./document.ts"
import type { Schema } from "./jsonSchema.ts"
import { furnish, type Ids, pathWith } from "./everything.ts"

const maximumOf = (parameter: Schema) => Number(schemaOf(parameter).maximum ?? Number.MAX_SAFE_INTEGER)
const numbersOf = ({ parameters }: Operation) =>
  parameters.filter(
    (parameter) => isIn("query")(parameter) && schemaOf(parameter).type === "integer" && maximumOf(parameter) >= 2 ** 31
  )
const counted = operations.filter((operation) => operation.method === "GET" && numbersOf(operation).length > 0)

let server: TestServer
let ids: Ids
beforeAll(async () => {
  server = await startServer()
  ids = await furnish(server.alpha)
})
afterAll(() => server.stop())

it.each(counted.map((operation) => [titleOf(operation), operation] as const))("%s", async (_, operation) => {
  const isStream = operation.path.endsWith("/stream")
  for (const parameter of numbersOf(operation)) {
    for (const value of [maximumOf(parameter), 2 ** 31]) {
      // Of a stream, steps are what reads the log by position.
      const path = pathWith(operation.path, ids)
      const query = `${path.includes("?") ? "&" : "?"}${parameter.name}=${value}${isStream ? "&types=step" : ""}`
      const stop = new AbortController()
      const answer = await fetch(server.base + path + query, {
        headers: { authorization: `Bearer ${server.alpha.token}` },
        signal: stop.signal
      })
      const text = isStream ? "" : await answer.text()
      stop.abort()
      assert.isBelow(answer.status, 500, `${query}: ${text}`)
    }
  }
})
