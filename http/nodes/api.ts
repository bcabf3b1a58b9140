/** The nodes that serve this installation: for those who operate it. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../access.ts"

export const Node = Schema.Struct({
  name: described(Schema.String, "Name of the node, TROUPE_NODE_ID: the same over restarts."),
  incarnation: described(Schema.String, "Id of the node's life: a new one after every start and every lost lease."),
  version: described(Schema.String, "Version of Troupe that it runs."),
  since: described(Timestamp, "When this life began."),
  actors: described(Schema.Int, "Number of actors in its memory."),
  shards: described(Schema.Int, "How many of the 4,096 shards are placed on it: it is to have their actors."),
  draining: described(Schema.Boolean, "Whether it is on its way out."),
  leaseAgeMs: described(Schema.Int, "Milliseconds since its last beat."),
  bus: described(
    Schema.Literals(["in-process", "connected", "disconnected", "unknown"]),
    "How it hears of other nodes' work."
  )
}).annotate({ identifier: "Node" })

export const NodeList = Schema.Struct({
  nodes: described(Schema.Array(Node), "Nodes whose leases are alive, by name.")
}).annotate({ identifier: "NodeList" })

export const NodesApi = HttpApiGroup.make("nodes")
  .add(
    HttpApiEndpoint.get("list", "/nodes", { success: NodeList })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the nodes of the installation",
          description:
            "Nodes whose leases are alive by the database's clock, by name, with what they said of themselves at " +
            "their last beats."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "The cluster: who is there, and who has what." }))
