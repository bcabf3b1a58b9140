/** The console's pages by their addresses. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router"
import { Inbox } from "./inbox/Inbox.tsx"
import { Layout } from "./Layout.tsx"
import { NotFound } from "./NotFound.tsx"
import { ThreadList } from "./threads/ThreadList.tsx"

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
const whole = (value: unknown) => {
  const number = Number(value)
  return value !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

const root = createRootRoute({ component: Layout, notFoundComponent: NotFound })

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
  validateSearch: ({ seq, view }) => ({
    ...(whole(seq) === undefined ? {} : { seq: whole(seq) }),
    ...(view === "events" ? { view: "events" as const } : {})
  }),
  component: lazyRouteComponent(() => import("./threads/ThreadPage.tsx"), "ThreadPage")
})

export const router = createRouter({
  routeTree: root.addChildren([inbox, threads, thread]),
  basepath: "/console",
  defaultPreload: false,
  scrollRestoration: true
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}

export { Outlet }
