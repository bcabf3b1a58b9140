/** What is around all pages: who is signed in. A file that is opened needs nobody, and asks nobody. */
import { Outlet, useRouterState } from "@tanstack/react-router"
import { Layout } from "./Layout.tsx"
import { SessionProvider } from "./session/Session.tsx"

export const Root = () => {
  const isFile = useRouterState({ select: ({ matches }) => matches.some(({ routeId }) => routeId === "/open") })
  return isFile ? (
    <Outlet />
  ) : (
    <SessionProvider>
      <Layout />
    </SessionProvider>
  )
}
