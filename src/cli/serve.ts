/** `troupe serve`: a production node on a PostgreSQL of the operator's. */
import { Effect } from "effect"
import { exposures, natsSettings } from "../bus/natsSettings.ts"
import { type NodeSettings, Settings } from "../config.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { explained, failure } from "./failure.ts"
import { prepareSchema, startNode } from "./node.ts"
import { watchSignals } from "./signals.ts"

const up = Effect.fn("cli.serve")(
  function* (settings: Settings["Service"]) {
    const { databaseUrl } = settings
    if (databaseUrl === undefined) return yield* failure("TROUPE_DATABASE_URL is missing.")
    const node: NodeSettings = { ...settings, databaseUrl }
    const nats = natsSettings(node)
    for (const exposure of nats === undefined ? [] : exposures(nats)) yield* Effect.logWarning(exposure)
    yield* prepareSchema(node)
    yield* watchSignals(settings.drainSeconds)
    const base = yield* startNode(node)
    yield* Effect.logInfo("serving", { url: base, node: settings.nodeId, pid: process.pid })
    return yield* Effect.never
  },
  Effect.scoped,
  (effect, settings) => effect.pipe(explained(settings.port), Effect.provide(Telemetry.layer(settings)))
)

export const serve = ({ migrate }: { readonly migrate: boolean }) =>
  Effect.flatMap(Settings.read("serve", { migrate }), up)
