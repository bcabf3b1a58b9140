/** The nodes, from their rows: any of them can tell of all. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { placeAmong } from "../../actors/Placement.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import { Database } from "../../src/database/Database.ts"
import { liveNodes } from "../../src/nodes/rows.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"

const states = ["in-process", "connected", "disconnected"] as const

export const NodesHandlers = HttpApiBuilder.group(
  Api,
  "nodes",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const nodes = yield* database.run("nodes.list", liveNodes)
        const placed = placeAmong(nodes)
        return json({
          nodes: nodes.map(({ actors = 0, bus, draining = false, incarnation, leaseAgeMs, name, since, version }) => ({
            name,
            incarnation,
            version,
            since: toTimestamp(since.getTime()),
            actors,
            draining,
            leaseAgeMs,
            shards: placed.filter((node) => node === incarnation).length,
            bus: states.find((state) => state === bus) ?? "unknown"
          }))
        })
      })
    })
  })
)
