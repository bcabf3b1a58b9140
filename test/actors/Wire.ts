/** How the nodes of a test's world reach each other: by a wire that a test cuts, or that loses a question or answer. */
import { Effect } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { NoAnswer } from "../../src/bus/hints.ts"
import { freshBus, type World } from "./World.ts"

export interface Wire {
  /** Nodes that are on the list of nodes, and cannot be reached nor reach anyone. */
  readonly cut: Set<string>
  readonly asked: Array<{
    readonly from: string
    readonly to: string
    readonly question: Readonly<Record<string, unknown>>
  }>
  /** Of the next question: it never arrives, or its answer does not. */
  fate: "unheard" | "unanswered" | undefined
  /** What happens between an answer that gets lost and whoever waits for it giving up. */
  meanwhile: Effect.Effect<void>
  readonly shared: Bus["Service"]
}

/** Connects the nodes that start from now on. */
export const connect = Effect.fnUntraced(function* (world: World) {
  const shared = yield* freshBus
  const wire: Wire = { cut: new Set(), asked: [], fate: undefined, meanwhile: Effect.void, shared }
  const isCut = (...nodes: ReadonlyArray<string>) => nodes.some((node) => wire.cut.has(node))
  world.busOf = (me) =>
    Effect.succeed(
      Bus.of({
        ...shared,
        request: (to, message, timeoutMs) => {
          const none = (reason: NoAnswer["reason"]) => new NoAnswer({ incarnation: to, reason })
          if (isCut(me, to)) return Effect.fail(none("away"))
          wire.asked.push({ from: me, to, question: JSON.parse(message) })
          const { fate } = wire
          wire.fate = undefined
          return fate === "unheard"
            ? Effect.delay(Effect.fail(none("timeout")), timeoutMs)
            : Effect.andThen(shared.request(to, message, timeoutMs), (answer) =>
                fate === "unanswered"
                  ? Effect.andThen(wire.meanwhile, Effect.fail(none("timeout")))
                  : Effect.succeed(answer)
              )
        },
        wake: (shard) => {
          if (!isCut(me)) shared.wake(shard)
        },
        onWake: (listener) =>
          shared.onWake((shard) => {
            if (!isCut(me)) listener(shard)
          })
      })
    )
  return wire
})
