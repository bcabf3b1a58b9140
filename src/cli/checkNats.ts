/** Whether NATS lets this node in, asked once. */
import { connect } from "@nats-io/transport-node"
import { Effect } from "effect"
import { connectionOptions, type NatsSettings } from "../bus/natsSettings.ts"

/** What answered; fails with why nothing did. */
export const checkNats = (settings: NatsSettings): Effect.Effect<string, string> =>
  Effect.tryPromise({
    try: async () => {
      const connection = await connect({
        ...connectionOptions(settings),
        timeout: 3_000,
        maxReconnectAttempts: 0,
        reconnect: false
      })
      const found = `nats-server ${connection.info?.version ?? "of an unknown version"} at ${connection.getServer()}`
      await connection.close()
      return found
    },
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  })
