/** What arrives on the bus: who vouches for it and whether it can be read, before anybody hears of it (T5). */
import type { Msg } from "@nats-io/transport-node"
import { Effect, Result } from "effect"
import { busIgnored, busReceived, busUnsigned, record } from "../telemetry/metrics.ts"
import type { makeNodePeers } from "./peers.ts"
import type { makeSignatures, TakenCounts } from "./signature.ts"
import * as wire from "./wire.ts"

export type BusKind = "hint" | "wake" | "auth" | "nodes" | "presence" | "request" | "answer"

interface Receiving {
  readonly peers: Pick<ReturnType<typeof makeNodePeers>, "unsigned">
  readonly run: (effect: Effect.Effect<void>) => unknown
  readonly signatures: ReturnType<typeof makeSignatures>
}

export const makeReceiving = ({ peers, run, signatures }: Receiving) => {
  const logged = new Set<string>()
  const ignore = (kind: BusKind, reason: wire.Strange, { data, subject }: Msg) => {
    record(busIgnored.with({ kind, reason }))
    if (logged.has(`${kind} ${reason}`)) return
    logged.add(`${kind} ${reason}`)
    run(
      Effect.logWarning("a message on the bus was ignored, and so will be others like it", {
        kind,
        reason,
        subject: subject.slice(0, 200),
        bytes: data.length
      })
    )
  }
  /** Why a message is not trusted; undefined where it is. */
  const mistrusted = (
    kind: BusKind,
    { data, headers, subject }: Msg,
    more: { readonly about?: string; readonly taken?: TakenCounts }
  ) => {
    const signature = headers?.get(wire.signatureHeader) ?? ""
    if (signature !== "") return signatures.mistrusted(signature, { subject, data, ...more })
    if (!peers.unsigned()) return "unsigned"
    record(busUnsigned.with({ kind }))
    return undefined
  }
  /** For one subscription. */
  const take = <A>(
    kind: BusKind,
    read: (message: Msg) => Result.Result<A, wire.Strange>,
    use: (found: A, message: Msg) => void
  ) => {
    const taken = signatures.taken()
    return (message: Msg) => {
      const doubt = mistrusted(kind, message, { taken })
      if (doubt !== undefined) return ignore(kind, doubt, message)
      const found = read(message)
      if (Result.isFailure(found)) return ignore(kind, found.failure, message)
      record(busReceived.with({ kind }))
      use(found.success, message)
    }
  }

  return { ignore, mistrusted, take }
}
