/** The console's pages by their addresses. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect
} from "@tanstack/react-router"
import { Broken } from "./Broken.tsx"
import { Inbox } from "./inbox/Inbox.tsx"
import { NotFound } from "./NotFound.tsx"
import { Root } from "./Root.tsx"
import { ThreadList } from "./threads/ThreadList.tsx"

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
const whole = (value: unknown) => {
  const number = Number(value)
  return value !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

const views = ["events", "timeline", "turns", "chart"] as const
const isView = (value: unknown): value is (typeof views)[number] => views.some((view) => view === value)

const root = createRootRoute({ component: Root, notFoundComponent: NotFound })

const inbox = createRoute({ getParentRoute: () => root, path: "/", component: Inbox })

const threads = createRoute({
  getParentRoute: () => root,
  path: "/threads",
  validateSearch: ({ agentId, identity, state }) => ({
    ...(text(agentId) === undefined ? {} : { agentId: text(agentId) }),
    ...(text(identity) === undefined ? {} : { identity: text(identity) }),
    ...(text(state) === undefined ? {} : { state: text(state) })
  }),
  component: ThreadList
})

const thread = createRoute({
  getParentRoute: () => root,
  path: "/threads/$threadId",
  validateSearch: ({ pos, seq, view }) => ({
    ...(whole(seq) === undefined ? {} : { seq: whole(seq) }),
    ...(whole(pos) === undefined ? {} : { pos: whole(pos) }),
    ...(isView(view) ? { view } : {})
  }),
  component: lazyRouteComponent(() => import("./threads/ThreadPage.tsx"), "ThreadPage")
})

/** A place in a log: a position, or an event. */
const place = ({ pos, seq }: Readonly<Record<string, unknown>>) => ({
  ...(whole(seq) === undefined ? {} : { seq: whole(seq) }),
  ...(whole(pos) === undefined ? {} : { pos: whole(pos) })
})

const threadChart = createRoute({
  getParentRoute: () => root,
  path: "/threads/$threadId/chart",
  validateSearch: place,
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/threads/$threadId", params, search: { view: "chart", ...search } })
  }
})

const actor = createRoute({
  getParentRoute: () => root,
  path: "/actors/$actorId",
  validateSearch: place,
  component: lazyRouteComponent(() => import("./actors/ActorPage.tsx"), "ActorPage")
})

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  component: lazyRouteComponent(() => import("./setup/Agents.tsx"), "Agents")
})

const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agentId",
  component: lazyRouteComponent(() => import("./setup/AgentPage.tsx"), "AgentPage")
})

const profiles = createRoute({
  getParentRoute: () => root,
  path: "/profiles",
  component: lazyRouteComponent(() => import("./setup/Profiles.tsx"), "Profiles")
})

const profile = createRoute({
  getParentRoute: () => root,
  path: "/profiles/$profileId",
  component: lazyRouteComponent(() => import("./setup/ProfilePage.tsx"), "ProfilePage")
})

const roles = createRoute({
  getParentRoute: () => root,
  path: "/roles",
  component: lazyRouteComponent(() => import("./setup/Roles.tsx"), "Roles")
})

const role = createRoute({
  getParentRoute: () => root,
  path: "/roles/$roleId",
  component: lazyRouteComponent(() => import("./setup/RolePage.tsx"), "RolePage")
})

const memory = createRoute({
  getParentRoute: () => root,
  path: "/memory",
  component: lazyRouteComponent(() => import("./setup/Memory.tsx"), "MemoryPage")
})

const toolsets = createRoute({
  getParentRoute: () => root,
  path: "/toolsets",
  component: lazyRouteComponent(() => import("./setup/Toolsets.tsx"), "Toolsets")
})

const toolset = createRoute({
  getParentRoute: () => root,
  path: "/toolsets/$toolsetId",
  component: lazyRouteComponent(() => import("./setup/ToolsetPage.tsx"), "ToolsetPage")
})

const hooks = createRoute({
  getParentRoute: () => root,
  path: "/hooks",
  component: lazyRouteComponent(() => import("./setup/Hooks.tsx"), "Hooks")
})

const connections = createRoute({
  getParentRoute: () => root,
  path: "/connections",
  component: lazyRouteComponent(() => import("./setup/Connections.tsx"), "Connections")
})

const connection = createRoute({
  getParentRoute: () => root,
  path: "/connections/$connectionId",
  component: lazyRouteComponent(() => import("./setup/ConnectionPage.tsx"), "ConnectionPage")
})

const identities = createRoute({
  getParentRoute: () => root,
  path: "/identities",
  component: lazyRouteComponent(() => import("./setup/Identities.tsx"), "Identities")
})

const operations = createRoute({
  getParentRoute: () => root,
  path: "/operations",
  component: lazyRouteComponent(() => import("./setup/Operations.tsx"), "Operations")
})

const operation = createRoute({
  getParentRoute: () => root,
  path: "/operations/$operationId",
  component: lazyRouteComponent(() => import("./setup/OperationPage.tsx"), "OperationPage")
})

const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  component: lazyRouteComponent(() => import("./setup/Keys.tsx"), "Keys")
})

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: lazyRouteComponent(() => import("./setup/Models.tsx"), "Models")
})

const charts = createRoute({
  getParentRoute: () => root,
  path: "/charts",
  component: lazyRouteComponent(() => import("./setup/Charts.tsx"), "Charts")
})

const nodes = createRoute({
  getParentRoute: () => root,
  path: "/nodes",
  component: lazyRouteComponent(() => import("./setup/Nodes.tsx"), "Nodes")
})

const feeds = createRoute({
  getParentRoute: () => root,
  path: "/feeds",
  component: lazyRouteComponent(() => import("./setup/Feeds.tsx"), "Feeds")
})

const feed = createRoute({
  getParentRoute: () => root,
  path: "/feeds/$feedId",
  component: lazyRouteComponent(() => import("./setup/FeedPage.tsx"), "FeedPage")
})

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  component: lazyRouteComponent(() => import("./setup/Usage.tsx"), "Usage")
})

const limits = createRoute({
  getParentRoute: () => root,
  path: "/limits",
  component: lazyRouteComponent(() => import("./setup/Limits.tsx"), "Limits")
})

const policy = createRoute({
  getParentRoute: () => root,
  path: "/policy",
  component: lazyRouteComponent(() => import("./setup/Policy.tsx"), "Policy")
})

const schedule = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agentId/schedules/$scheduleId",
  component: lazyRouteComponent(() => import("./setup/SchedulePage.tsx"), "SchedulePage")
})

const subscriptions = createRoute({
  getParentRoute: () => root,
  path: "/subscriptions",
  component: lazyRouteComponent(() => import("./setup/Subscriptions.tsx"), "Subscriptions")
})

const subscription = createRoute({
  getParentRoute: () => root,
  path: "/subscriptions/$subscriptionId",
  component: lazyRouteComponent(() => import("./setup/SubscriptionPage.tsx"), "SubscriptionPage")
})

const webhooks = createRoute({
  getParentRoute: () => root,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./setup/Webhooks.tsx"), "Webhooks")
})

const webhook = createRoute({
  getParentRoute: () => root,
  path: "/webhooks/$webhookId",
  component: lazyRouteComponent(() => import("./setup/WebhookPage.tsx"), "WebhookPage")
})

const open = createRoute({
  getParentRoute: () => root,
  path: "/open",
  component: lazyRouteComponent(() => import("./threads/FilePage.tsx"), "FilePage")
})

export const router = createRouter({
  routeTree: root.addChildren([
    inbox,
    threads,
    thread,
    threadChart,
    open,
    actor,
    agents,
    agent,
    profiles,
    profile,
    roles,
    role,
    memory,
    toolsets,
    toolset,
    hooks,
    connections,
    connection,
    identities,
    operations,
    operation,
    keys,
    models,
    nodes,
    charts,
    feeds,
    feed,
    usage,
    limits,
    policy,
    schedule,
    subscriptions,
    subscription,
    webhooks,
    webhook
  ]),
  basepath: "/console",
  defaultErrorComponent: Broken,
  defaultPreload: false,
  scrollRestoration: true
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}

export { Outlet }
