/** Whole numbers of a request as large as the document allows, which no column may be too narrow to be compared with. */
import { assert, it } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { isIn, type Operation, operations, schemaOf, titleOf } from "./document.ts"
import type { Schema } from "./jsonSchema.ts"
import { furnish, pathWith } from "./everything.ts"

const isLarge = (parameter: Schema) => schemaOf(parameter).format === "int64"
const numbersOf = ({ parameters }: Operation) => parameters.filter(isLarge)
const counted = operations.filter((operation) => operation.method === "GET" && numbersOf(operation).length > 0)

const server = await during(startServer())
const ids = await furnish(server.alpha)

it.each(counted.map((operation) => [titleOf(operation), operation] as const))("%s", async (_, operation) => {
  const isStream = operation.path.endsWith("/stream")
  for (const parameter of numbersOf(operation)) {
    for (const value of ["9223372036854775807", "9007199254740991", "2147483648"]) {
      const said = { [String(parameter.name)]: value }
      // Of a stream, steps are what reads the log by position.
      const query = new URLSearchParams({ ...(isIn("query")(parameter) && said), ...(isStream && { types: "step" }) })
      const stop = new AbortController()
      const answer = await fetch(`${server.base}${pathWith(operation.path, ids)}?${query}`, {
        headers: { authorization: `Bearer ${server.alpha.token}`, ...(isIn("header")(parameter) && said) },
        signal: stop.signal
      })
      const text = isStream ? "" : await answer.text()
      stop.abort()
      assert.isBelow(answer.status, 500, `${parameter.name} ${value}: ${text}`)
    }
  }
})
