/** The way to the pages of what is configured and of what it comes to. */
import { Popover } from "@base-ui/react/popover"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import "./setupMenu.css"

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

/** It closes by itself wherever it led to, by Escape, and by a press beside it; the focus goes back to its button. */
export const SetupMenu = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover.Root open={isOpen} onOpenChange={(open) => setOpen(open)}>
      <Popover.Trigger className="link setup-button">Setup</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="setup-place" align="start" sideOffset={8} collisionPadding={8}>
          <Popover.Popup className="setup" render={<nav aria-label="Setup" />}>
            <ul>
              {links.map(({ label, to }) => (
                <li key={to}>
                  <Link to={to} onClick={() => setOpen(false)}>
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
