/**
 * Logs, traces and metrics of one process. Provide it outermost, so that it sees everything.
 *
 * Without a collector the tracer is off: a span nobody reads would still cost its microseconds.
 */
import { Effect, Layer, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import type { Server } from "node:http"
import { type LogLevel, layerLogs, showsColours } from "./logs.ts"
import { layerProcessGauges } from "./processGauges.ts"
import { watchRequests } from "./requests.ts"
import { version } from "../version.ts"

/** What telemetry needs of the program's settings. */
export interface TelemetrySettings {
  readonly logLevel: LogLevel
  readonly logFormat: "pretty" | "json"
  /** Nothing is sent without one. */
  readonly otlpEndpoint?: string | undefined
  readonly nodeId: string
}

/**
 * Spans and metrics to a collector. Log lines go to standard output, with their fields checked (T1), and nowhere else.
 */
const layerTraces = ({ otlpEndpoint, nodeId }: TelemetrySettings) => {
  if (otlpEndpoint === undefined) return Layer.succeed(References.TracerEnabled, false)
  const resource = { serviceName: "troupe", serviceVersion: version, attributes: { "service.instance.id": nodeId } }
  return Layer.mergeAll(
    OtlpTracer.layer({ url: `${otlpEndpoint}/v1/traces`, resource }),
    OtlpMetrics.layer({ url: `${otlpEndpoint}/v1/metrics`, resource })
  ).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]))
}

export const layer = (settings: TelemetrySettings) =>
  Layer.mergeAll(layerProcessGauges, layerTraces(settings)).pipe(
    Layer.provideMerge(
      layerLogs({
        level: settings.logLevel,
        format: settings.logFormat,
        coloured: showsColours(process.stdout)
      })
    )
  )

/** Attaches to a server that is not yet listening: counts and logs its requests. */
export const observe = Effect.map(Effect.context<never>(), (context) => {
  const run = Effect.runSyncWith(context)
  return (server: Server) =>
    watchRequests(server, {
      log: ({ cut, ...fields }) =>
        run(
          fields.status >= 500
            ? Effect.logError("request failed", fields)
            : cut
              ? Effect.logInfo("request cut off", fields)
              : Effect.logInfo("request", fields)
        )
    })
})
