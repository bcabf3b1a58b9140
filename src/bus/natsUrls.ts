/** A list of URLs that tells where NATS is: `nats://user:password@host:4222, …` */
import { Redacted } from "effect"

/** What a list of URLs says. */
export interface NatsServers {
  /** host:port */
  readonly servers: ReadonlyArray<string>
  /** Refuse servers without TLS. */
  readonly tls: boolean
  readonly login?:
    | { readonly user: string; readonly password: Redacted.Redacted<string> }
    | { readonly token: Redacted.Redacted<string> }
}

export class BadNatsUrl extends Error {}

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new BadNatsUrl("has a login with a % that is no escape: write %25")
  }
}

/** Throws BadNatsUrl, whose message does not repeat what may be a password. */
export const readNatsUrls = (list: string): NatsServers => {
  const urls = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const whole = entry.includes("://") ? entry : `nats://${entry}`
      if (!URL.canParse(whole))
        throw new BadNatsUrl("is no list of NATS servers: give nats://host:4222, several separated by commas")
      const url = new URL(whole)
      if (url.protocol !== "nats:" && url.protocol !== "tls:")
        throw new BadNatsUrl("names a server that is neither nats:// nor tls://")
      if (
        url.hostname === "" ||
        (url.pathname !== "" && url.pathname !== "/") ||
        url.search !== "" ||
        url.hash !== ""
      ) {
        throw new BadNatsUrl("has more in a URL than a login, a host and a port: give nats://user:password@host:4222")
      }
      return url
    })
  if (urls.length === 0) throw new BadNatsUrl("names no server: give nats://host:4222, several separated by commas")
  const logins = new Set(
    urls.map(({ password, username }) => `${username}:${password}`).filter((login) => login !== ":")
  )
  if (logins.size > 1)
    throw new BadNatsUrl("has servers with different logins: one user for all of them is enough, at any of them")
  const url = urls.find(({ username }) => username !== "")
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || "4222"}`),
    tls: urls.some(({ protocol }) => protocol === "tls:"),
    ...(url === undefined
      ? {}
      : {
          login:
            url.password === ""
              ? { token: Redacted.make(decoded(url.username)) }
              : { user: decoded(url.username), password: Redacted.make(decoded(url.password)) }
        })
  }
}
