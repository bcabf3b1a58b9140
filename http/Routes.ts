/**
 * Everything that this server answers: the interface, its reference, the way there, the probes, metrics unless they are
 * elsewhere; and the frame around them.
 */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AgentsHandlers } from "./agents/handlers.ts"
import { Api } from "./Api.ts"
import { ApprovalsHandlers } from "./approvals/handlers.ts"
import { AuthHandlers } from "./auth/handlers.ts"
import * as consoleServing from "./console/serving.ts"
import { ActorsHandlers } from "./inspection/handlers.ts"
import { ChartsHandlers } from "./charts/handlers.ts"
import { ConnectionsHandlers } from "./connections/handlers.ts"
import { EventsHandlers } from "./events/handlers.ts"
import { FeedsHandlers } from "./feeds/handlers.ts"
import * as Frame from "./Frame.ts"
import * as Gate from "./Gate.ts"
import { HooksHandlers } from "./hooks/handlers.ts"
import { IdentitiesHandlers } from "./identities/handlers.ts"
import { LimitsHandlers } from "./limits/handlers.ts"
import { MemoryHandlers, SharedMemoryHandlers } from "./memory/handlers.ts"
import { MessagesHandlers } from "./messages/handlers.ts"
import * as metrics from "./metrics.ts"
import { ModelsHandlers } from "./models/handlers.ts"
import { NodesHandlers } from "./nodes/handlers.ts"
import { OperationsHandlers } from "./operations/handlers.ts"
import * as probes from "./probes.ts"
import { ProfilesHandlers } from "./profiles/handlers.ts"
import { QueueHandlers } from "./queue/handlers.ts"
import * as reference from "./reference.ts"
import { RolesHandlers } from "./roles/handlers.ts"
import * as root from "./root.ts"
import { SchedulesHandlers } from "./schedules/handlers.ts"
import { StreamsHandlers } from "./streams/handlers.ts"
import { SubscriptionsHandlers } from "./subscriptions/handlers.ts"
import { ThreadsHandlers } from "./threads/handlers.ts"
import { ToolsHandlers } from "./tools/handlers.ts"
import { ToolsetsHandlers } from "./toolsets/handlers.ts"
import { ImagesHandlers } from "./images/handlers.ts"
import { UsageHandlers } from "./usage/handlers.ts"
import { WaitsHandlers } from "./waits/handlers.ts"
import { WebhooksHandlers } from "./webhooks/handlers.ts"

/** Handlers of every group: add yours. */
const Handlers = Layer.mergeAll(
  ActorsHandlers,
  AgentsHandlers,
  ApprovalsHandlers,
  AuthHandlers,
  ChartsHandlers,
  ConnectionsHandlers,
  EventsHandlers,
  FeedsHandlers,
  HooksHandlers,
  IdentitiesHandlers,
  LimitsHandlers,
  MemoryHandlers,
  MessagesHandlers,
  ModelsHandlers,
  NodesHandlers,
  OperationsHandlers,
  ProfilesHandlers,
  QueueHandlers,
  RolesHandlers,
  SchedulesHandlers,
  SharedMemoryHandlers,
  StreamsHandlers,
  SubscriptionsHandlers,
  ThreadsHandlers,
  ToolsHandlers,
  ToolsetsHandlers,
  ImagesHandlers,
  UsageHandlers,
  WaitsHandlers,
  WebhooksHandlers
)

export interface Served {
  /** `/metrics` is among the paths; false where it is elsewhere, or nowhere. */
  readonly metrics: boolean
  /** Folder of the built console; undefined: there is none. */
  readonly console: string | undefined
  /** Names that requests may come by (hosts.ts); undefined: any. */
  readonly hosts: ReadonlyArray<string> | undefined
}

const common = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers.pipe(Layer.provide(Gate.layer)))),
  reference.layer(reference.madeInThread()),
  probes.layer,
  root.layer
)
const paths = [...probes.probePaths, ...reference.referencePaths, ...root.rootPaths]

export const routes = (served: Served) =>
  Layer.mergeAll(
    common,
    served.metrics ? metrics.layer : Layer.empty,
    served.console === undefined ? Layer.empty : consoleServing.layer(served.console),
    Frame.layer(
      Api,
      [
        ...paths,
        ...(served.metrics ? [metrics.metricsPath] : []),
        ...(served.console === undefined ? [] : consoleServing.consolePaths)
      ],
      served.hosts
    )
  )
