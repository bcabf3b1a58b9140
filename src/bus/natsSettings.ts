/** Where NATS is, and how to be let in: what the environment says, as the client wants it. */
import {
  credsAuthenticator,
  nkeyAuthenticator,
  type NodeConnectionOptions,
  type TlsOptions,
  tokenAuthenticator,
  usernamePasswordAuthenticator
} from "@nats-io/transport-node"
import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import { isLoopback } from "../domain/loopback.ts"
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
export const natsSettings = ({
  natsCa: ca,
  natsCert: cert,
  natsCreds: creds,
  natsKey: key,
  natsNkey: nkey,
  natsUrls
}: NatsVariables): NatsSettings | undefined => natsUrls && { ...natsUrls, files: { ca, cert, creds, key, nkey } }

const authenticators = ({ files = {}, login }: NatsSettings) => [
  ...(login === undefined
    ? []
    : [
        "token" in login
          ? tokenAuthenticator(Redacted.value(login.token))
          : usernamePasswordAuthenticator(login.user, Redacted.value(login.password))
      ]),
  ...(files.creds === undefined ? [] : [credsAuthenticator(fileReader(files.creds, "\n"))]),
  ...(files.nkey === undefined ? [] : [nkeyAuthenticator(fileReader(files.nkey, ""))])
]

/** The client wants a line end behind credentials, and none behind a seed. */
const fileReader = (path: string, end: string) => () =>
  new TextEncoder().encode(readFileSync(path, "utf8").trim() + end)

const tlsOf = ({ files: { ca, cert, key } = {}, tls }: NatsSettings): TlsOptions | undefined =>
  tls || ca !== undefined || cert !== undefined
    ? {
        ...(ca === undefined ? {} : { caFile: ca }),
        ...(cert === undefined ? {} : { certFile: cert }),
        ...(key === undefined ? {} : { keyFile: key })
      }
    : undefined

/** What anybody on the way to the servers, or beside them, could do: nothing on this machine itself. */
export const exposures = (settings: NatsSettings): ReadonlyArray<string> => {
  const { files = {}, login, servers } = settings
  const far = servers.filter((server) => !isLoopback(server.slice(0, server.lastIndexOf(":")))).join(", ")
  if (far === "") return []
  const known = login !== undefined || files.creds !== undefined || files.nkey !== undefined || files.cert !== undefined
  return [
    ...(tlsOf(settings) === undefined
      ? [`${far} is reached without TLS: whoever is on the way reads what threads say. Write tls:// in TROUPE_NATS_URL`]
      : []),
    ...(known
      ? []
      : [
          `${far} is reached without a login: whoever reaches it too reads what threads say. Let the server ask ` +
            "for one, and put it into TROUPE_NATS_URL"
        ])
  ]
}

export const connectionOptions = (settings: NatsSettings): NodeConnectionOptions => {
  const tls = tlsOf(settings)
  return {
    servers: [...settings.servers],
    authenticator: authenticators(settings),
    ...(tls === undefined ? {} : { tls })
  }
}
