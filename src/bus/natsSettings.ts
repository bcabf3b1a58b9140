/** Where NATS is, and how to be let in: what the environment says, as the client wants it. */
import { credsAuthenticator, nkeyAuthenticator, type NodeConnectionOptions, type TlsOptions, tokenAuthenticator, usernamePasswordAuthenticator } from "@nats-io/transport-node"
import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { NatsServers } from "./natsUrls.ts"

/** All paths are of files, which are read again at each connection: what is in them may be renewed. */
export interface NatsFiles {
  /** Credentials of a user: JWT and seed, as nsc writes them. */
  readonly creds?: string | undefined
  /** Seed of an nkey. */
  readonly nkey?: string | undefined
  /** Certificates that are trusted, PEM. */
  readonly ca?: string | undefined
  /** Our own certificate and its key, PEM. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export interface NatsSettings extends NatsServers {
  readonly files?: NatsFiles
}

/** The variables of a node as they were read. */
export interface NatsVariables {
  readonly natsUrls: NatsServers | undefined
  readonly natsCreds: string | undefined
  readonly natsNkey: string | undefined
  readonly natsCa: string | undefined
  readonly natsCert: string | undefined
  readonly natsKey: string | undefined
}

/** undefined where no NATS is named. */
export const natsSettings = ({ natsCa: ca, natsCert: cert, natsCreds: creds, natsKey: key, natsNkey: nkey, natsUrls }: NatsVariables): NatsSettings | undefined =>
  natsUrls && { ...natsUrls, files: { ca, cert, creds, key, nkey } }

const authenticators = ({ files = {}, login }: NatsSettings) => [
  ...login === undefined ? [] : ["token" in login
    ? tokenAuthenticator(Redacted.value(login.token))
    : usernamePasswordAuthenticator(login.user, Redacted.value(login.password))],
  ...files.creds === undefined ? [] : [credsAuthenticator(fileReader(files.creds, "\n"))],
  ...files.nkey === undefined ? [] : [nkeyAuthenticator(fileReader(files.nkey, ""))]
]

/** The client wants a line end behind credentials, and none behind a seed. */
const fileReader = (path: string, end: string) => () => new TextEncoder().encode(readFileSync(path, "utf8").trim() + end)

const tlsOf = ({ files: { ca, cert, key } = {}, tls }: NatsSettings): TlsOptions | undefined =>
  tls || ca !== undefined || cert !== undefined
    ? { ...ca === undefined ? {} : { caFile: ca }, ...cert === undefined ? {} : { certFile: cert }, ...key === undefined ? {} : { keyFile: key } }
    : undefined

export const connectionOptions = (settings: NatsSettings): NodeConnectionOptions => {
  const tls = tlsOf(settings)
  return { servers: [...settings.servers], authenticator: authenticators(settings), ...tls === undefined ? {} : { tls } }
}
