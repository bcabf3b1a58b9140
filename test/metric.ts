/** What this process tells of itself in numbers. */
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** A metric, summed over its labels that contain the text. */
export const metric = (name: string, labels = "") =>
  Effect.map(PrometheusMetrics.format(), (text) =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`troupe_${name}`) && line.includes(labels))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0)
  )
