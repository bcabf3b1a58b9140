/** Which URLs of other people's servers may be asked, as far as the URL itself says it. */
import { isIP } from "node:net"
import { hostOf, isWithin, parseUrl, type Reach } from "../domain/url.ts"
import { isAllowed } from "./addresses.ts"

export interface UrlRules {
  readonly allowPrivateNetwork: boolean
  /** Absent: anywhere. */
  readonly reach?: Reach | undefined
}

export type UrlProblem = { readonly reason: "forbidden_url" | "forbidden_address"; readonly message: string }

/** Why a URL is never asked, whatever its host's name leads to; undefined where it may be. */
export const urlProblemOf = (text: string | URL, { allowPrivateNetwork, reach }: UrlRules): UrlProblem | undefined => {
  const url = typeof text === "string" ? parseUrl(text) : text
  const forbidden = (message: string): UrlProblem => ({ reason: "forbidden_url", message })
  if (url === undefined) return forbidden("not a URL")
  if (url.protocol !== "https:" && !(allowPrivateNetwork && url.protocol === "http:"))
    return forbidden("an https:// URL is needed")
  if (url.username !== "" || url.password !== "") return forbidden("a URL must not hold credentials")
  const host = hostOf(url)
  if (host === "") return forbidden("the URL has no host")
  if (reach !== undefined && !isWithin(url, reach)) return forbidden("the host is not among the allowed ones")
  if (isIP(host) !== 0 && !isAllowed(host, allowPrivateNetwork)) {
    return { reason: "forbidden_address", message: "the address is not a public one" }
  }
  return undefined
}
