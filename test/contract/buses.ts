/**
 * What every bus must keep (B1 to B4 of src/bus/Bus.ts), whichever way it carries hints: within a process, within one
 * node that is connected to NATS, and from one node to another over a real nats-server.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { layerInProcess } from "../../src/bus/inProcess.ts"
import { layerNats } from "../../src/bus/nats.ts"
import { readNatsUrls } from "../../src/bus/natsUrls.ts"
import { busKeys } from "../../src/bus/signature.ts"
import { freshId } from "../../src/seed.ts"
import { during } from "../setup/during.ts"
import { natsForTests } from "../setup/nats.ts"

/** Who publishes, asks and wakes, and who listens and answers. */
export interface Pair {
  readonly here: Bus["Service"]
  readonly there: Bus["Service"]
}

const keys = busKeys([new Uint8Array(32).fill(7)])

/** Listeners' bugs are part of the tests. */
const quiet = Logger.layer([])

/** A bus may need a moment to carry a hint. */
export const until = (arrived: () => boolean) =>
  Effect.gen(function* () {
    for (const end = performance.now() + 5_000; performance.now() < end && !arrived(); )
      yield* Effect.callback<void>((resume) => {
        setImmediate(() => resume(Effect.void))
      })
    assert.isTrue(arrived(), "it did not arrive")
  })

export type BusTest = (title: string, body: (pair: Pair) => Effect.Effect<void, unknown, Scope.Scope>) => void

/** The same tests of every bus. */
export const everyBus = async (tests: (test: BusTest) => void) => {
  const nats = await during(natsForTests())

  /** A node's bus, once it is connected and the server has what it listens to. */
  const node = Effect.gen(function* () {
    const bus = Context.get(
      yield* Layer.build(
        layerNats({ settings: readNatsUrls(nats.url), name: "test", keys, lease: { now: Date.now, nodes: () => [] } })
      ),
      Bus
    )
    yield* until(() => bus.state() === "connected")
    // It ends when the server has this subscription and all before it, which "connected" does not say.
    yield* Effect.scoped(bus.subscribe({ workspace: freshId("workspace") }, () => {}))
    return bus
  })

  const pairs: Readonly<Record<string, Effect.Effect<Pair, never, Scope.Scope>>> = {
    "in process": Effect.map(Layer.build(layerInProcess), (context) => ({
      here: Context.get(context, Bus),
      there: Context.get(context, Bus)
    })),
    "within one node on NATS": Effect.map(node, (bus) => ({ here: bus, there: bus })),
    "between nodes on NATS": Effect.map(Effect.all([node, node]), ([here, there]) => ({ here, there }))
  }

  for (const [name, pair] of Object.entries(pairs)) {
    describe(`the bus, ${name}`, () => {
      tests((title, body) => {
        it.live(title, () => Effect.provide(Effect.scoped(Effect.flatMap(pair, body)), quiet))
      })
    })
  }
}
