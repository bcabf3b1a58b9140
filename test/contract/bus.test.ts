/** What every bus must keep (B1, B2 of src/bus/Bus.ts), whichever way it carries hints. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, type Layer, Scope } from "effect"
import { Bus, type Hint } from "../../src/bus/Bus.ts"

const buses: Readonly<Record<string, Layer.Layer<Bus>>> = { "in process": Bus.layerMemory }

const one = { workspace: "wsp_1", agentId: "agt_1", threadId: "thr_1" }
const status = (about: typeof one, lastSeq: number): Hint => ({ ...about, type: "status", status: "idle", lastSeq })
const seqs = (hints: ReadonlyArray<Hint>) => hints.map((hint) => hint.type === "status" ? hint.lastSeq : -1)

/** A bus may need a moment to carry a hint. */
const until = (arrived: () => boolean) =>
  Effect.gen(function*() {
    for (let i = 0; i < 2000 && !arrived(); i++) yield* Effect.callback<void>((resume) => { setImmediate(() => resume(Effect.void)) })
    assert.isTrue(arrived(), "the hint did not arrive")
  })

for (const [name, layer] of Object.entries(buses)) {
  describe(`the bus, ${name}`, () => {
    const test = (title: string, body: Effect.Effect<void, never, Bus | Scope.Scope>) =>
      it.live(title, () => Effect.provide(Effect.scoped(body), layer))

    test("tells a thread's watcher, its agent's watcher and the workspace's watcher", Effect.gen(function*() {
      const bus = yield* Bus
      const heard: Array<string> = []
      yield* bus.subscribe({ workspace: "wsp_1", threadId: "thr_1" }, () => heard.push("thread"))
      yield* bus.subscribe({ workspace: "wsp_1", agentId: "agt_1" }, () => heard.push("agent"))
      yield* bus.subscribe({ workspace: "wsp_1" }, () => heard.push("workspace"))
      bus.publish(status(one, 1))
      yield* until(() => heard.length === 3)
      assert.deepStrictEqual([...heard].sort(), ["agent", "thread", "workspace"])
    }))

    test("tells nobody of another thread, agent or workspace", Effect.gen(function*() {
      const bus = yield* Bus
      const heard: Array<Hint> = []
      const own: Array<Hint> = []
      for (const watch of [
        { workspace: "wsp_1", threadId: "thr_2" }, { workspace: "wsp_1", agentId: "agt_2" }, { workspace: "wsp_2" },
        { workspace: "wsp_2", threadId: "thr_1" }, { workspace: "wsp_2", agentId: "agt_1" },
        { workspace: "wsp_1", agentId: "agt_2", threadId: "thr_1" }
      ]) yield* bus.subscribe(watch, (hint) => heard.push(hint))
      yield* bus.subscribe({ workspace: "wsp_1", threadId: "thr_1", agentId: "agt_1" }, (hint) => own.push(hint))
      bus.publish(status(one, 1))
      yield* until(() => own.length === 1)
      assert.deepStrictEqual(heard, [])
    }))

    test("keeps the order of one thread's hints", Effect.gen(function*() {
      const bus = yield* Bus
      const heard: Array<Hint> = []
      yield* bus.subscribe({ workspace: "wsp_1", threadId: "thr_1" }, (hint) => heard.push(hint))
      for (let i = 0; i < 500; i++) bus.publish(status(one, i))
      yield* until(() => heard.length === 500)
      assert.deepStrictEqual(seqs(heard), Array.from({ length: 500 }, (_, i) => i))
    }))

    test("keeps that order for everybody when a listener publishes", Effect.gen(function*() {
      const bus = yield* Bus
      const heard: Array<Hint> = []
      yield* bus.subscribe({ workspace: "wsp_1" }, (hint) => {
        if (seqs([hint])[0] === 1) bus.publish(status(one, 2))
      })
      yield* bus.subscribe({ workspace: "wsp_1" }, (hint) => heard.push(hint))
      bus.publish(status(one, 1))
      yield* until(() => heard.length === 2)
      assert.deepStrictEqual(seqs(heard), [1, 2])
    }))

    test("is live as soon as subscribe returns, and silent once the scope is closed", Effect.gen(function*() {
      const bus = yield* Bus
      const scope = yield* Scope.make()
      const first: Array<Hint> = []
      const second: Array<Hint> = []
      yield* Scope.provide(bus.subscribe({ workspace: "wsp_1" }, (hint) => first.push(hint)), scope)
      yield* bus.subscribe({ workspace: "wsp_1" }, (hint) => second.push(hint))
      bus.publish(status(one, 1))
      yield* until(() => first.length === 1 && second.length === 1)
      yield* Scope.close(scope, Exit.void)
      bus.publish(status(one, 2))
      yield* until(() => second.length === 2)
      assert.deepStrictEqual(seqs(first), [1])
    }))

    test("carries every kind of hint as it was published", Effect.gen(function*() {
      const bus = yield* Bus
      const hints: ReadonlyArray<Hint> = [
        { ...one, type: "events", events: [{ seq: 7, turnId: "trn_1", type: "user_message", text: `{"seq":7,"text":"\\u0000\\ud800"}` }] },
        { ...one, type: "delta", turnId: "trn_1", eventId: "evt_1", index: 3, text: "grüß\n\n\"dich\" 🎈" },
        { ...one, type: "discard", eventId: "evt_1" },
        { ...one, type: "status", status: "awaiting", lastSeq: 9 },
        { ...one, type: "queue", pending: 2 }
      ]
      const heard: Array<Hint> = []
      yield* bus.subscribe({ workspace: "wsp_1", threadId: "thr_1" }, (hint) => heard.push(hint))
      for (const hint of hints) bus.publish(hint)
      yield* until(() => heard.length === hints.length)
      assert.deepStrictEqual(heard, hints)
    }))

    test("says whether anybody on this node watches a thread", Effect.gen(function*() {
      const bus = yield* Bus
      assert.isFalse(bus.watched(one))
      for (const watch of [{ workspace: "wsp_1" }, { workspace: "wsp_1", agentId: "agt_1" }, { workspace: "wsp_1", threadId: "thr_1" }]) {
        const scope = yield* Scope.make()
        yield* Scope.provide(bus.subscribe(watch, () => {}), scope)
        assert.isTrue(bus.watched(one))
        assert.isFalse(bus.watched({ ...one, workspace: "wsp_2" }))
        yield* Scope.close(scope, Exit.void)
        assert.isFalse(bus.watched(one))
      }
    }))

    test("does not let a listener that throws harm the publisher or the others", Effect.gen(function*() {
      const bus = yield* Bus
      const heard: Array<Hint> = []
      yield* bus.subscribe({ workspace: "wsp_1" }, () => { throw new Error("a listener's bug") })
      yield* bus.subscribe({ workspace: "wsp_1" }, (hint) => heard.push(hint))
      bus.publish(status(one, 1))
      bus.publish(status(one, 2))
      yield* until(() => heard.length === 2)
    }))

    test("lets a listener unsubscribe another while a hint is on its way", Effect.gen(function*() {
      const bus = yield* Bus
      const scope = yield* Scope.make()
      const closed: Array<Hint> = []
      const open: Array<Hint> = []
      yield* bus.subscribe({ workspace: "wsp_1" }, () => { Effect.runSync(Scope.close(scope, Exit.void)) })
      yield* Scope.provide(bus.subscribe({ workspace: "wsp_1" }, (hint) => closed.push(hint)), scope)
      yield* bus.subscribe({ workspace: "wsp_1" }, (hint) => open.push(hint))
      bus.publish(status(one, 1))
      bus.publish(status(one, 2))
      yield* until(() => open.length === 2)
      assert.notInclude(seqs(closed), 2)
    }))
  })
}
