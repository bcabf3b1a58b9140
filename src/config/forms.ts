/**
 * Forms that the value of a variable may have: each takes the variable's text, and gives its value or the sentence on
 * it that follows the variable's name.
 */
import { Redacted, Result } from "effect"
import { accessSync, constants } from "node:fs"
import { resolve } from "node:path"
import { BadNatsUrl, type NatsServers, readNatsUrls } from "../bus/natsUrls.ts"
import type { EncryptionKey } from "../crypto/envelope.ts"
import { isLoopback } from "../domain/loopback.ts"
import { parseKey } from "../keys/keyText.ts"

/** `dev` is one process with everything embedded; `serve` is a production node. */
export type Mode = "dev" | "serve"

export type Form<A> = (text: string, mode: Mode) => Result.Result<A, string>

const { fail, succeed } = Result

const shown = (text: string) => `is ${JSON.stringify(text)}`

/** A whole number; `what` with its unit. */
export const whole =
  (minimum: number, maximum: number, what: string): Form<number> =>
  (text) =>
    !/^\d{1,15}$/.test(text) || Number(text) < minimum || Number(text) > maximum
      ? fail(`${shown(text)}: give ${what} from ${minimum} to ${maximum}`)
      : succeed(Number(text))

export const oneOf =
  <const A extends string>(values: ReadonlyArray<A>): Form<A> =>
  (text) => {
    const value = values.find((each) => each === text.toLowerCase())
    return value === undefined ? fail(`${shown(text)}: give one of ${values.join(", ")}`) : succeed(value)
  }

export const truth: Form<boolean> = (text) => {
  if (["true", "1", "yes", "on"].includes(text.toLowerCase())) return succeed(true)
  if (["false", "0", "no", "off"].includes(text.toLowerCase())) return succeed(false)
  return fail(`${shown(text)}: give true or false`)
}

export const path: Form<string> = (text) => succeed(resolve(text))

/** A file that must be there and readable from the start. */
export const readable =
  (what: string): Form<string> =>
  (text) => {
    const file = resolve(text)
    try {
      accessSync(file, constants.R_OK)
      return succeed(file)
    } catch {
      return fail(`${shown(text)}, which cannot be read: give the path of ${what}`)
    }
  }

const isUrl = (text: string, protocols: ReadonlyArray<string>) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol)

/** The value is not repeated: it holds a password. */
export const databaseUrl: Form<Redacted.Redacted<string>> = (text) =>
  isUrl(text, ["postgres:", "postgresql:"])
    ? succeed(Redacted.make(text))
    : fail("is no postgres:// URL: give one such as postgres://user:password@host:5432/troupe")

const hostName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Names that requests may come by; undefined: any. */
export const hostNames: Form<ReadonlyArray<string> | undefined> = (text) => {
  const names = text
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
  if (names.includes("*")) return succeed(undefined)
  return names.length > 0 && names.every((name) => hostName.test(name))
    ? succeed(names)
    : fail(`${shown(text)}: give host names with commas between them and without ports, or *`)
}

export const natsUrls: Form<NatsServers> = (text) => {
  try {
    return succeed(readNatsUrls(text))
  } catch (bad) {
    if (bad instanceof BadNatsUrl) return fail(bad.message)
    throw bad
  }
}

/** How an operator makes a key of encryption. */
export const makeOne = `Make one with: echo "k1:$(openssl rand -base64 32)"`

export const encryptionKeys: Form<ReadonlyArray<EncryptionKey>> = (text) => {
  const keys: Array<EncryptionKey> = []
  for (const entry of text.split(",")) {
    const [, id, base64 = ""] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry.trim()) ?? []
    const bytes = Buffer.from(base64, "base64")
    if (id === undefined || bytes.length !== 32)
      return fail(`has an entry that is not id:base64 with a key of 32 bytes. ${makeOne}`)
    keys.push({ id, key: Redacted.make(new Uint8Array(bytes)) })
  }
  return new Set(keys.map(({ id }) => id)).size === keys.length ? succeed(keys) : fail("names the same key id twice")
}

export const nodeId: Form<string> = (text) =>
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(text)
    ? succeed(text)
    : fail(`${shown(text)}: give a name of 1 to 63 letters, digits, - or _, different on every node`)

export const devKey: Form<Redacted.Redacted<string>> = (text) =>
  parseKey(text) === undefined
    ? fail(
        "is no key (trp_ and 8 characters, _ and 38 characters, the last six a checksum): leave it out, and " +
          "one is made and kept in the data folder"
      )
    : succeed(Redacted.make(text))

export const host: Form<string> = (text, mode) =>
  mode === "dev" && !isLoopback(text)
    ? fail(
        `${shown(text)}: the development server listens on the loopback interface only; use npm run serve to ` +
          `serve others`
      )
    : succeed(text)

export const collector: Form<string> = (text) =>
  isUrl(text, ["http:", "https:"])
    ? succeed(text.replace(/\/+$/, ""))
    : fail(`${shown(text)}: give the http:// or https:// URL of an OTLP collector, such as http://127.0.0.1:4318`)

/** What paths are appended to: without a slash at its end. A proxy may serve the API below a path of its own. */
export const publicUrl: Form<string> = (text) => {
  const why =
    "give the http:// or https:// URL under which others reach this installation, such as https://troupe.example.com"
  // The value is not repeated: it may hold a password.
  if (!isUrl(text, ["http:", "https:"])) return fail(`is no such URL: ${why}`)
  const { hash, href, password, search, username } = new URL(text)
  if (username !== "" || password !== "") return fail(`holds a login, which would be sent to everybody: ${why}`)
  if (search !== "" || hash !== "" || /[?#]/.test(text))
    return fail(`has a query or a fragment, behind which no path can be appended: ${why}`)
  return succeed(href.replace(/\/+$/, ""))
}

/** Where a command finds a server: without a slash at its end. */
export const serverUrl: Form<string> = (text) => {
  const url = text.replace(/\/+$/, "")
  return URL.canParse(url) ? succeed(url) : fail(`${shown(url)}: give a URL such as http://127.0.0.1:4100`)
}

/** Where something listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** `api` is the API's own listener. */
export const metrics: Form<Address | "api" | "off"> = (text) => {
  if (text === "api" || text === "off") return succeed(text)
  const [, address, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(text) ?? []
  if (address === undefined || Number(port) > 65_535)
    return fail(
      `${shown(text)}: give an address and a port (0 takes a free one) such as 127.0.0.1:9464, api for the ` +
        `API's own listener, or off`
    )
  return succeed({ host: address.replace(/^\[|\]$/g, ""), port: Number(port) })
}

/** Anything, kept to itself. */
export const secret: Form<Redacted.Redacted<string>> = (text) => succeed(Redacted.make(text))
