/** Nodes' buses over a real nats-server, and what they say: logs and metrics. */
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { assert } from "@effect/vitest"
import { Bus } from "../../src/bus/Bus.ts"
import type { Hint } from "../../src/bus/hints.ts"
import { layerNats } from "../../src/bus/nats.ts"
import type { NatsSettings } from "../../src/bus/natsSettings.ts"
import { readNatsUrls } from "../../src/bus/natsUrls.ts"
import type { NodePeer } from "../../src/bus/peers.ts"
import { type BusKey, busKeys } from "../../src/bus/signature.ts"
import type { LiveNode } from "../../src/journal/Lease.ts"

export interface Node {
  readonly bus: Bus["Service"]
  /** What it logged: messages, each with its fields. */
  readonly log: ReadonlyArray<string>
}

/** What the nodes of a test share, unless it says otherwise. */
export const keys = busKeys([new Uint8Array(32).fill(7)])

/** A row of the list of live nodes. Without `signs`, of a node of the version before. */
export const live = (peer: NodePeer): LiveNode => ({ actors: 0, births: 0, draining: false, bus: "connected", ...peer })

export interface Standing {
  readonly keys?: ReadonlyArray<BusKey>
  readonly nodes?: () => ReadonlyArray<LiveNode>
}

/** One node's bus; it is not waited for that it is connected. Pings follow each other fast. */
export const nodeOn = Effect.fnUntraced(function* (
  settings: NatsSettings | string,
  pingMs = 100,
  standing: Standing = {}
): Effect.fn.Return<Node, never, Scope.Scope> {
  const log: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    log.push(
      `${logLevel} ${(Array.isArray(message) ? message : [message]).map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" ")}`
    )
  })
  const layer = layerNats({
    settings: typeof settings === "string" ? readNatsUrls(settings) : settings,
    name: "test",
    pingMs,
    keys: standing.keys ?? keys,
    lease: { now: Date.now, nodes: standing.nodes ?? (() => []) }
  })
  const context = yield* Layer.build(Layer.provide(layer, Logger.layer([logger])))
  return { bus: Context.get(context, Bus), log }
})

export const until = (holds: () => boolean, what = "it did not happen", forMs = 8_000) =>
  Effect.gen(function* () {
    for (const end = performance.now() + forMs; performance.now() < end && !holds(); ) yield* Effect.sleep(2)
    assert.isTrue(holds(), what)
  })

export const connected = ({ bus }: Node) => until(() => bus.state() === "connected", "not connected")
export const disconnected = ({ bus }: Node) => until(() => bus.state() === "disconnected", "still connected")

/**
 * Until the one hears what the other says, and has heard all that was said till then, the look of its own connection
 * too, unless that was over before somebody listened. What was heard is forgotten.
 */
export const hearing = (from: Node, heard: Array<string>) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* until(() => heard.includes("look") || performance.now() > began + 400)
    let said = 1_000_000
    yield* until(() => {
      from.bus.publish(status(++said))
      return heard.some((what) => what.startsWith("status 1"))
    }, "what was said did not arrive")
    from.bus.publish(status(++said))
    yield* until(() => heard.includes(`status ${said}`), "what was said last did not arrive")
    heard.length = 0
  })

export const idOf = (prefix: string, n: number) => prefix + String(n).padStart(26, "0")
export const one = { workspace: idOf("wsp_", 1), agentId: idOf("agt_", 1), threadId: idOf("thr_", 1) }
export const status = (lastSeq: number, about = one): Hint => ({ ...about, type: "status", status: "idle", lastSeq })

/** What a listener hears, in short. */
export const into = (heard: Array<string>) => (hint: Hint) => {
  heard.push(hint.type === "status" ? `status ${hint.lastSeq}` : hint.type)
}
