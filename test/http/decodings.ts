/**
 * What the contract's schemas make of request bodies that are generated from a seed: `node decodings.ts <seed> <runs>`
 * prints it, one line a body. Where a process may not generate code, Effect interprets the schemas.
 */
import "effect/schema/SchemaJITCompiler/enable"
import { Exit, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import fc from "fast-check"
import { inspect } from "node:util"
import { Api } from "../../http/Api.ts"
import { operations } from "./document.ts"
import { Known } from "./known.ts"
import { requests } from "./requests.ts"

/** The body's schemas of each operation, by its method and path as the document has them. */
const bodies = () => {
  const found = new Map<string, ReadonlyArray<Schema.Top>>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
      found.set(
        `${endpoint.method} ${path}`,
        [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
      )
    }
  })
  return found
}

const all = { depth: Number.POSITIVE_INFINITY, breakLength: Number.POSITIVE_INFINITY, sorted: false } as const

export const decodings = (seed: number, runs: number): ReadonlyArray<string> => {
  const schemas = bodies()
  return operations.flatMap((operation, index) => {
    if (operation.body === undefined) return []
    const name = `${operation.method} ${operation.path}`
    return (schemas.get(name) ?? []).flatMap((schema) => {
      const decode = Schema.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(schema.ast), {
        onExcessProperty: "error",
        errors: "all"
      })
      return fc.sample(requests(operation, new Known()), { numRuns: runs, seed: seed + index }).map(({ sent }) => {
        const exit = decode(sent.body)
        return `${name} ${Exit.isSuccess(exit) ? inspect(exit.value, all) : `refused: ${String(exit.cause)}`}`
      })
    })
  })
}

if (import.meta.main) {
  const [seed, runs] = process.argv.slice(2).map(Number)
  process.stdout.write(JSON.stringify(decodings(seed ?? 0, runs ?? 1)))
}
