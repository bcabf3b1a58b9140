/**
 * NATS comes, goes, hangs and is cut off: nothing waits for it, nothing piles up, and listeners learn that they missed
 * something.
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { freePort } from "../../src/postgres/cluster.ts"
import { cutProxy } from "../contract/CutProxy.ts"
import { NatsServer } from "../setup/nats.ts"
import { metric } from "../metric.ts"
import { connected, disconnected, idOf, hearing, into, nodeOn, one, status, until } from "./world.ts"

const node1 = idOf("node_", 1)

describe("a node whose NATS", () => {
  const servers: Array<NatsServer> = []
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))
  const server = (config = "") =>
    Effect.promise(async () => {
      const started = await NatsServer.start(config)
      servers.push(started)
      return started
    })
  const test = (title: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) =>
    it.live(title, () => Effect.scoped(Effect.suspend(body)))

  test(
    "is not there starts all the same, works by itself, and joins when it comes",
    Effect.fnUntraced(function* () {
      const port = yield* Effect.promise(() => freePort())
      const since = performance.now()
      const node = yield* nodeOn(`nats://127.0.0.1:${port}`)
      // A start waits for no try of a connection.
      assert.isBelow(performance.now() - since, 5_000)
      assert.strictEqual(node.bus.state(), "disconnected")
      const heard: Array<string> = []
      yield* node.bus.subscribe({ workspace: one.workspace }, into(heard))
      node.bus.publish(status(1))
      assert.deepStrictEqual(heard, ["status 1"])
      const asked = yield* Effect.flip(node.bus.request(node1, "hello", 5_000))
      assert.strictEqual(asked.reason, "away")
      assert.isFalse(asked.mayHaveTakenEffect)
      yield* node.bus.serve(node1, () => Effect.succeed("here"))
      assert.strictEqual(yield* node.bus.request(node1, "hello", 1_000), "here")
      assert.isTrue(node.bus.watched(one))
      yield* until(() => node.log.some((line) => line.includes("NATS is away")))
      assert.strictEqual(yield* metric("bus_state", `state="disconnected"`), 1)

      // What was asked for before there was a connection holds once there is one.
      yield* Effect.promise(async () => {
        const started = await NatsServer.start("", port)
        servers.push(started)
      })
      yield* connected(node)
      assert.strictEqual(yield* metric("bus_state", `state="connected"`), 1)
      const other = yield* nodeOn(`nats://127.0.0.1:${port}`)
      yield* connected(other)
      assert.strictEqual(yield* other.bus.request(node1, "hello", 1_000), "here")
      other.bus.publish(status(2))
      yield* until(() => heard.includes("status 2"))
      yield* until(() => heard.includes("look"))
      // It said once that NATS was away, however often it tried.
      assert.strictEqual(node.log.filter((line) => line.includes("NATS is away")).length, 1)
    })
  )

  test(
    "is killed goes on, keeps nothing for later, and listeners look once it is back",
    Effect.fnUntraced(function* () {
      const nats = yield* server()
      const [here, there] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace, threadId: one.threadId }, into(heard))
      let asked = false
      yield* there.bus.serve(node1, () => {
        asked = true
        return Effect.never
      })
      yield* hearing(here, heard)
      const waiting = yield* Effect.forkChild(Effect.flip(here.bus.request(node1, "hello", 30_000)))
      yield* until(() => asked, "the question did not arrive")
      yield* Effect.promise(() => nats.kill())
      const lost = yield* Fiber.join(waiting)
      assert.strictEqual(lost.reason, "lost")
      assert.isTrue(lost.mayHaveTakenEffect)
      yield* disconnected(here)
      yield* disconnected(there)
      here.bus.publish(status(1))
      assert.strictEqual((yield* Effect.flip(here.bus.request(node1, "hello", 5_000))).reason, "away")
      const again = performance.now()
      yield* Effect.promise(() => nats.again())
      yield* connected(here)
      yield* connected(there)
      assert.isBelow(performance.now() - again, 3_000)
      yield* until(() => heard.includes("look"))
      here.bus.publish(status(2))
      yield* until(() => heard.includes("status 2"))
      assert.notInclude(heard, "status 1")
      assert.isAtLeast(yield* metric("bus_reconnects_total"), 2)
    })
  )

  test(
    "is cut off from the publisher alone makes the listeners of others look",
    Effect.fnUntraced(function* () {
      const nats = yield* server()
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => cutProxy(nats.url)),
        (proxy) => Effect.promise(() => proxy.close())
      )
      const [here, there] = [yield* nodeOn(proxy.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace, agentId: one.agentId }, into(heard))
      yield* hearing(here, heard)
      // Nothing is closed: only pings find out.
      proxy.hold(true)
      yield* disconnected(here)
      here.bus.publish(status(1))
      assert.strictEqual(there.bus.state(), "connected")
      proxy.hold(false)
      yield* connected(here)
      yield* until(() => heard.includes("look"))
      here.bus.publish(status(2))
      yield* until(() => heard.includes("status 2"))
      assert.notInclude(heard, "status 1")
    })
  )

  test(
    "takes nothing costs a bounded memory, and listeners look when it takes again",
    Effect.fnUntraced(function* () {
      const nats = yield* server()
      const [here, there] = [yield* nodeOn(nats.url, 60_000), yield* nodeOn(nats.url, 60_000)]
      yield* connected(here)
      yield* connected(there)
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace }, into(heard))
      yield* hearing(here, heard)
      const before = yield* metric("bus_lost_total")
      nats.hold(true)
      const text = JSON.stringify("x".repeat(60_000))
      for (let i = 1; i <= 2_000; i++) {
        here.bus.publish({ ...one, type: "events", events: [{ seq: i, turnId: "trn_1", type: "user_message", text }] })
        if (i % 20 === 0) yield* Effect.sleep(1)
      }
      // 120 MB were published; 8 MiB may wait.
      assert.isAbove(yield* metric("bus_lost_total"), before + 1_500)
      nats.hold(false)
      yield* until(() => heard.includes("look"))
      here.bus.publish(status(2_001))
      yield* until(() => heard.includes("status 2001"))
    })
  )

  test(
    "cuts it off for being too slow comes back, and its listeners look",
    Effect.fnUntraced(function* () {
      const nats = yield* server(`max_pending: 1MB\nwrite_deadline: "100ms"`)
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => cutProxy(nats.url)),
        (proxy) => Effect.promise(() => proxy.close())
      )
      const [here, there] = [yield* nodeOn(nats.url, 60_000), yield* nodeOn(proxy.url, 60_000)]
      yield* connected(here)
      yield* connected(there)
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace }, into(heard))
      yield* hearing(here, heard)
      const before = yield* metric("bus_reconnects_total")
      proxy.hold(true)
      const text = JSON.stringify("x".repeat(60_000))
      for (let i = 1; i <= 400; i++) {
        here.bus.publish({ ...one, type: "events", events: [{ seq: i, turnId: "trn_1", type: "user_message", text }] })
        if (i % 10 === 0) yield* Effect.sleep(5)
      }
      yield* until(() => nats.log.includes("Slow Consumer"), "it was not cut off")
      proxy.hold(false)
      yield* until(() => heard.includes("look"))
      assert.strictEqual(yield* metric("bus_reconnects_total"), before + 1)
      assert.strictEqual(here.bus.state(), "connected")
      yield* connected(there)
      here.bus.publish(status(401))
      yield* until(() => heard.includes("status 401"))
    })
  )

  test(
    "takes only shorter messages than ours makes listeners look, and refuses questions at once",
    Effect.fnUntraced(function* () {
      const nats = yield* server("max_payload: 8192")
      const [here, there] = [yield* nodeOn(nats.url), yield* nodeOn(nats.url)]
      yield* connected(here)
      yield* connected(there)
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace }, into(heard))
      yield* there.bus.serve(node1, Effect.succeed)
      yield* hearing(here, heard)
      here.bus.publish({
        ...one,
        type: "events",
        events: [{ seq: 1, turnId: "trn_1", type: "user_message", text: JSON.stringify("x".repeat(20_000)) }]
      })
      here.bus.publish(status(1))
      yield* until(() => heard.includes("look"))
      assert.strictEqual((yield* Effect.flip(here.bus.request(node1, "x".repeat(20_000), 2_000))).reason, "too_large")
      assert.strictEqual(yield* here.bus.request(node1, "short", 2_000), "short")
      assert.deepStrictEqual([here.bus.state(), there.bus.state()], ["connected", "connected"])
    })
  )

  test(
    "is there is left in order: what was said last still arrives, and nobody is there any more",
    Effect.fnUntraced(function* () {
      const nats = yield* server()
      const there = yield* nodeOn(nats.url)
      const scope = yield* Scope.make()
      const here = yield* Scope.provide(nodeOn(nats.url), scope)
      yield* connected(here)
      yield* connected(there)
      yield* Scope.provide(
        here.bus.serve(node1, () => Effect.succeed("here")),
        scope
      )
      const heard: Array<string> = []
      yield* there.bus.subscribe({ workspace: one.workspace }, into(heard))
      for (let i = 1; i <= 50; i++) here.bus.publish(status(i))
      yield* Scope.close(scope, Exit.void)
      yield* until(() => heard.includes("status 50"))
      assert.strictEqual((yield* Effect.flip(there.bus.request(node1, "hello", 2_000))).reason, "nobody")
    })
  )
})
