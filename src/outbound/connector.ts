/**
 * Makes connections to checked addresses only.
 *
 * G1. Every address that a name leads to is checked; one that is not allowed refuses the name, whatever the others are.
 * G2. The socket is given the addresses that were checked, so no second look-up can differ (DNS rebinding).
 * G3. An address written in the URL is checked too: it never passes through a look-up.
 */
import { lookup as systemLookup, type LookupAddress } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { buildConnector } from "undici"
import { isAllowed } from "./addresses.ts"
import { outboundFailure, OutboundFailure } from "./OutboundFailure.ts"

/** All addresses of a name, or an error. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: ReadonlyArray<LookupAddress>) => void
) => void

/** The system's resolver: /etc/hosts and search domains count, as for every other program. */
export const systemResolve: Resolve = (hostname, done) =>
  systemLookup(hostname, { all: true }, (error, found) => done(error, error ? [] : found))

export interface ConnectorOptions {
  readonly allowPrivateNetwork: boolean
  readonly connectMs: number
  readonly resolve: Resolve
}

const forbidden = () => outboundFailure("forbidden_address", "the host leads to an address that is not a public one")

/** System and TLS codes only: messages of errors name addresses. */
const connectCodeOf = (error: Error) =>
  "code" in error && typeof error.code === "string" && /^[A-Z_0-9]{3,48}$/.test(error.code) ? error.code : undefined

const noConnection = (error: Error) => {
  const code = connectCodeOf(error)
  return outboundFailure(
    "connect",
    code === undefined ? "no connection to the server" : `no connection to the server (${code})`
  )
}

export const guardedConnector = ({
  allowPrivateNetwork,
  connectMs,
  resolve
}: ConnectorOptions): buildConnector.connector => {
  const allowed = (address: string) => isAllowed(address, allowPrivateNetwork)

  const lookup: LookupFunction = (hostname, { all, family }, done) =>
    resolve(hostname, (error, found) => {
      if (error !== null) return done(error, [])
      if (!found.every(({ address }) => allowed(address))) return done(forbidden(), []) // G1
      const wanted = family === 4 || family === 6 ? found.filter((one) => one.family === family) : [...found]
      const [first] = wanted
      if (first === undefined) return done(Object.assign(new Error("no address"), { code: "ENOTFOUND" }), [])
      return all === true ? done(null, wanted) : done(null, first.address, first.family) // G2
    })

  // HTTP/1.1 only: one protocol whose sizes and times are all bounded here.
  const connect = buildConnector({ allowH2: false, lookup, timeout: connectMs })

  return (options, done) => {
    if (isIP(options.hostname) !== 0 && !allowed(options.hostname)) return done(forbidden(), null) // G3
    connect(options, (error, socket) => {
      if (error !== null) return done(error instanceof OutboundFailure ? error : noConnection(error), null)
      const { remoteAddress } = socket
      if (remoteAddress !== undefined && !allowed(remoteAddress)) {
        socket.destroy()
        return done(forbidden(), null)
      }
      done(null, socket)
    })
  }
}
