/** The nodes that serve this installation: for those who operate it. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../Authenticate.ts"

export const Node = Schema.Struct({
  /** TROUPE_NODE_ID: the same over restarts. */
  name: Schema.String,
  /** One life of the node: another after every start, and after every lost lease. */
  incarnation: Schema.String,
  version: Schema.String,
  since: Timestamp,
  /** Actors in its memory. */
  actors: Schema.Int,
  /** Of 4,096: those whose actors it is to have. */
  shards: Schema.Int,
  /** It is on its way out. */
  draining: Schema.Boolean,
  /** Milliseconds since its last beat. */
  leaseAgeMs: Schema.Int,
  bus: Schema.Literals(["in-process", "connected", "disconnected", "unknown"])
}).annotate({ identifier: "Node" })

export const NodeList = Schema.Struct({ nodes: Schema.Array(Node) }).annotate({ identifier: "NodeList" })

export const NodesApi = HttpApiGroup.make("nodes").add(
  HttpApiEndpoint.get("list", "/nodes", { success: NodeList }).annotateMerge(access("admin")).annotateMerge(OpenApi.annotations({
    summary: "List the nodes of the installation",
    description: "Those whose leases are alive by the database's clock, by name, with what they said of themselves at their last beats."
  }))
).annotateMerge(OpenApi.annotations({ description: "The cluster: who is there, and who has what. [ext]" }))
