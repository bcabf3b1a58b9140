/** The way to the pages of what is configured and of what it comes to. */
import { Link, useRouterState } from "@tanstack/react-router"
import { useEffect, useRef } from "react"

const links = [
  { to: "/agents", label: "Agents" },
  { to: "/profiles", label: "Profiles" },
  { to: "/roles", label: "Roles" },
  { to: "/toolsets", label: "Toolsets" },
  { to: "/hooks", label: "Hooks" },
  { to: "/connections", label: "Connections" },
  { to: "/models", label: "Models" },
  { to: "/memory", label: "Memory" },
  { to: "/feeds", label: "Feeds" },
  { to: "/subscriptions", label: "Subscriptions" },
  { to: "/webhooks", label: "Webhooks" },
  { to: "/identities", label: "Identities" },
  { to: "/keys", label: "Keys" },
  { to: "/policy", label: "Approval policy" },
  { to: "/operations", label: "Operations" },
  { to: "/usage", label: "Usage" },
  { to: "/limits", label: "Limits" },
  { to: "/nodes", label: "Nodes" },
  { to: "/charts", label: "Charts" }
] as const

export const SetupMenu = () => {
  const menu = useRef<HTMLDetailsElement>(null)
  const place = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has gone somewhere is done with the menu
  useEffect(() => {
    if (menu.current !== null) menu.current.open = false
  }, [place])
  return (
    <details
      className="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key === "Escape" && menu.current !== null) menu.current.open = false
      }}
    >
      <summary>Setup</summary>
      <ul>
        {links.map(({ label, to }) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ul>
    </details>
  )
}
