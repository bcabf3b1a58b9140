/** Charts: those of the machines, with their versions. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { charts } from "../../machines/charts.ts"
import { definitionOf } from "../../machines/definition.ts"
import { chartKinds } from "../../src/domain/chartKinds.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Refused } from "../errors.ts"
import type { Chart } from "./api.ts"
import { versionOf } from "./version.ts"

const noChart = new Refused({ error: "not_found", message: `no such chart: there are ${chartKinds.join(", ")}` })

const chartOf = (kind: Chart["kind"]): Chart => {
  const definition = definitionOf(charts[kind])
  return { kind, version: versionOf(definition), ...definition }
}

export const ChartsHandlers = HttpApiBuilder.group(
  Api,
  "charts",
  Effect.fnUntraced(function* (handlers) {
    const all = chartKinds.map(chartOf)
    return handlers.handleAll({
      list: () => Effect.succeed(json({ charts: all })),
      get: ({ params }) => {
        const chart = all.find(({ kind }) => kind === params.kind)
        return chart === undefined ? Effect.fail(noChart) : Effect.succeed(json({ chart }))
      }
    })
  })
)
