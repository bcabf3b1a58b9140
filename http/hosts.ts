/**
 * Names that requests may come by. A page elsewhere can have its own name resolved to this machine, and its requests
 * would be same-origin to it; they still say that name in their Host.
 */
import { Refused } from "./errors.ts"

/** Without the port; undefined where there is none. */
const nameOf = (host: string | undefined) =>
  /^(\[[^\]]*\]|[^:]+)(?::\d+)?$/.exec(host?.trim() ?? "")?.[1]?.toLowerCase()

const isLiteral = (name: string) => name.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)

/** Addresses always pass, since nobody resolves them; `*` lets any name pass. */
export const isAllowedHost = (names: ReadonlyArray<string>) => {
  const known = new Set(names.map((name) => name.toLowerCase()))
  return (host: string | undefined): boolean => {
    if (known.has("*")) return true
    const name = nameOf(host)
    return name !== undefined && (isLiteral(name) || known.has(name.replace(/\.$/, "")))
  }
}

export const misdirected = () =>
  new Refused({
    error: "misdirected_request",
    message: "This server does not answer to that Host. TROUPE_ALLOWED_HOSTS lists the names that it does answer to."
  })
