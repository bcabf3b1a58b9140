/** What this node says of the nodes beside it: those that it shares no key with, and those that do not sign. */
import { Effect } from "effect"
import { busStrangers, record } from "../telemetry/metrics.ts"
import type { makeNodePeers } from "./peers.ts"

export const makePeerNews = (
  peers: Pick<ReturnType<typeof makeNodePeers>, "strangers" | "unsigned">,
  run: (effect: Effect.Effect<void>) => unknown
) => {
  /** Incarnations without a key in common that were named, and whether it was said that unsigned messages are taken. */
  const named = new Set<string>()
  let lenient = false

  return () => {
    const strangers = peers.strangers()
    record(busStrangers, strangers.length)
    for (const { incarnation, name } of strangers) {
      if (named.has(incarnation)) continue
      named.add(incarnation)
      run(
        Effect.logError(
          "a live node and this one cannot verify each other's messages, and find each other's work in the " +
            "database only: give both the same TROUPE_ENCRYPTION_KEYS",
          { node: name }
        )
      )
    }
    if (peers.unsigned() === lenient) return
    lenient = !lenient
    run(
      Effect.logWarning(
        lenient
          ? "a node of an earlier version is alive: messages on the bus are taken without a signature until it is gone"
          : "no node of an earlier version is left: messages on the bus without a signature are refused"
      )
    )
  }
}
