/** What every bus must keep (buses.ts) of what it tells watchers: whom, in which order, and whether anybody listens. */
import { assert } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import type { Hint } from "../../src/bus/hints.ts"
import { everyBus, until } from "./buses.ts"

const idOf = (prefix: string, n: number) => prefix + String(n).padStart(26, "0")
const [wsp1, wsp2, agt1, agt2, thr1, thr2] = [
  idOf("wsp_", 1),
  idOf("wsp_", 2),
  idOf("agt_", 1),
  idOf("agt_", 2),
  idOf("thr_", 1),
  idOf("thr_", 2)
] as const

const one = { workspace: wsp1, agentId: agt1, threadId: thr1 }
const status = (about: typeof one, lastSeq: number): Hint => ({ ...about, type: "status", status: "idle", lastSeq })
const seqs = (hints: ReadonlyArray<Hint>) => hints.flatMap((hint) => (hint.type === "status" ? [hint.lastSeq] : []))
/** After a connection is made, listeners are told to look: that is beside what these tests are about. */
const into = (heard: Array<Hint>) => (hint: Hint) => {
  if (hint.type !== "look") heard.push(hint)
}

await everyBus((test) => {
  test(
    "tells a thread's watcher, its agent's watcher and the workspace's watcher",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<string> = []
      const named =
        (name: string) =>
        ({ type }: Hint) => {
          if (type !== "look") heard.push(name)
        }
      yield* there.subscribe({ workspace: wsp1, threadId: thr1 }, named("thread"))
      yield* there.subscribe({ workspace: wsp1, agentId: agt1 }, named("agent"))
      yield* there.subscribe({ workspace: wsp1 }, named("workspace"))
      here.publish(status(one, 1))
      yield* until(() => heard.length === 3)
      assert.deepStrictEqual([...heard].sort(), ["agent", "thread", "workspace"])
    })
  )

  test(
    "tells nobody of another thread, agent or workspace",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<Hint> = []
      const own: Array<Hint> = []
      for (const watch of [
        { workspace: wsp1, threadId: thr2 },
        { workspace: wsp1, agentId: agt2 },
        { workspace: wsp2 },
        { workspace: wsp2, threadId: thr1 },
        { workspace: wsp2, agentId: agt1 },
        { workspace: wsp1, agentId: agt2, threadId: thr1 }
      ])
        yield* there.subscribe(watch, into(heard))
      yield* there.subscribe({ workspace: wsp1, threadId: thr1, agentId: agt1 }, into(own))
      here.publish(status(one, 1))
      yield* until(() => own.length === 1)
      assert.deepStrictEqual(heard, [])
    })
  )

  test(
    "keeps the order of one thread's hints",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1, threadId: thr1 }, into(heard))
      for (let i = 0; i < 500; i++) here.publish(status(one, i))
      yield* until(() => heard.length === 500)
      assert.deepStrictEqual(
        seqs(heard),
        Array.from({ length: 500 }, (_, i) => i)
      )
    })
  )

  test(
    "keeps that order for everybody when a listener publishes",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1 }, (hint) => {
        if (seqs([hint])[0] === 1) here.publish(status(one, 2))
      })
      yield* there.subscribe({ workspace: wsp1 }, into(heard))
      here.publish(status(one, 1))
      yield* until(() => heard.length === 2)
      assert.deepStrictEqual(seqs(heard), [1, 2])
    })
  )

  test(
    "is live as soon as subscribe returns, and silent once the scope is closed",
    Effect.fnUntraced(function* ({ here, there }) {
      const scope = yield* Scope.make()
      const first: Array<Hint> = []
      const second: Array<Hint> = []
      yield* Scope.provide(there.subscribe({ workspace: wsp1 }, into(first)), scope)
      yield* there.subscribe({ workspace: wsp1 }, into(second))
      here.publish(status(one, 1))
      yield* until(() => first.length === 1 && second.length === 1)
      yield* Scope.close(scope, Exit.void)
      here.publish(status(one, 2))
      yield* until(() => second.length === 2)
      assert.deepStrictEqual(seqs(first), [1])
    })
  )

  test(
    "carries every kind of hint as it was published",
    Effect.fnUntraced(function* ({ here, there }) {
      const hints: ReadonlyArray<Hint> = [
        {
          ...one,
          type: "events",
          events: [{ seq: 7, turnId: "trn_1", type: "user_message", text: `{"seq":7,"text":"\\u0000\\ud800"}` }]
        },
        { ...one, type: "status", status: "awaiting", lastSeq: 9 },
        { ...one, type: "progress", toolCallId: "call_1", progress: 0.5, total: 2, message: "half\n\nof one" },
        { ...one, type: "progress", toolCallId: "call_1", progress: 1 },
        { ...one, type: "wait", waitId: "wait_1", state: "open", target: "person" },
        { ...one, type: "queue", pending: 2 },
        { ...one, agentId: "", type: "queue", pending: 3 }
      ]
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1, threadId: thr1 }, into(heard))
      for (const hint of hints) here.publish(hint)
      yield* until(() => heard.length === hints.length)
      assert.deepStrictEqual(heard, hints)
    })
  )

  test(
    "carries deltas to those who ask for them, and what takes them back",
    Effect.fnUntraced(function* ({ here, there }) {
      const deltas: ReadonlyArray<Hint> = [
        { ...one, type: "delta", turnId: "trn_1", eventId: "evt_1", index: 3, text: 'grüß\n\n"dich" 🎈' },
        { ...one, type: "delta", turnId: "trn_1", eventId: "evt_1", index: 4, text: "\ud800" },
        { ...one, type: "discard", eventId: "evt_1" }
      ]
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1, threadId: thr1, deltas: true }, into(heard))
      // Between nodes they begin a moment later.
      while (heard.length === 0) {
        for (const hint of deltas) here.publish(hint)
        yield* Effect.sleep(5)
      }
      yield* until(() => heard.length % deltas.length === 0)
      assert.deepStrictEqual(heard.slice(0, deltas.length), deltas)
    })
  )

  test(
    "never tells less than that it was long: events of 64 KiB and more keep their places",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1, threadId: thr1 }, into(heard))
      const event = { seq: 3, turnId: "trn_1", type: "user_message" }
      here.publish({ ...one, type: "events", events: [{ ...event, text: `"${"x".repeat(500_000)}"` }] })
      here.publish(status(one, 3))
      yield* until(() => heard.length === 2)
      const [first] = heard
      assert(first?.type === "events")
      assert.deepStrictEqual(
        first.events.map(({ seq, turnId, type }) => ({ seq, turnId, type })),
        [event]
      )
      assert.deepStrictEqual(seqs(heard), [3])
    })
  )

  test(
    "never says that a thread is not watched while it is",
    Effect.fnUntraced(function* ({ here, there }) {
      for (const watch of [
        { workspace: wsp1 },
        { workspace: wsp1, agentId: agt1 },
        { workspace: wsp1, threadId: thr1 }
      ]) {
        const scope = yield* Scope.make()
        yield* Scope.provide(
          there.subscribe(watch, () => {}),
          scope
        )
        assert.isTrue(here.watched(one))
        yield* Scope.close(scope, Exit.void)
      }
    })
  )

  test(
    "counts who wants deltas, on this node or another, and nobody else",
    Effect.fnUntraced(function* ({ here, there }) {
      const watches = [{ workspace: wsp1 }, { workspace: wsp1, agentId: agt1 }, { workspace: wsp1, threadId: thr1 }]
      for (const watch of watches) yield* there.subscribe(watch, () => {})
      for (const watch of [...watches, { workspace: wsp1, threadId: thr2 }, { workspace: wsp2 }])
        yield* there.subscribe({ ...watch, deltas: false }, () => {})
      yield* there.subscribe({ workspace: wsp1, threadId: thr2, deltas: true }, () => {})
      // Wishes travel in order: that of the other thread has arrived, and those before it.
      yield* until(() => here.wantsDeltas({ ...one, threadId: thr2 }))
      assert.isTrue(here.watched(one))
      assert.isFalse(here.wantsDeltas(one), "nobody who listens to this thread wants deltas")
      for (const watch of watches) {
        const scope = yield* Scope.make()
        const [first, second] = yield* Effect.all([Scope.fork(scope), Scope.fork(scope)])
        yield* Scope.provide(
          there.subscribe({ ...watch, deltas: true }, () => {}),
          first
        )
        yield* Scope.provide(
          there.subscribe({ ...watch, deltas: true }, () => {}),
          second
        )
        yield* until(() => here.wantsDeltas(one))
        yield* Scope.close(first, Exit.void)
        assert.isTrue(here.wantsDeltas(one), "one of two is left")
        yield* Scope.close(scope, Exit.void)
        // What another node wanted is forgotten with its rounds.
        if (here === there) assert.isFalse(here.wantsDeltas(one))
      }
    })
  )

  test(
    "does not let a listener that throws harm the publisher or the others",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1 }, () => {
        throw new Error("a listener's bug")
      })
      yield* there.subscribe({ workspace: wsp1 }, into(heard))
      here.publish(status(one, 1))
      here.publish(status(one, 2))
      yield* until(() => heard.length === 2)
    })
  )

  test(
    "lets a listener unsubscribe another while a hint is on its way",
    Effect.fnUntraced(function* ({ here, there }) {
      const scope = yield* Scope.make()
      const closed: Array<Hint> = []
      const open: Array<Hint> = []
      yield* there.subscribe({ workspace: wsp1 }, () => {
        Effect.runSync(Scope.close(scope, Exit.void))
      })
      yield* Scope.provide(there.subscribe({ workspace: wsp1 }, into(closed)), scope)
      yield* there.subscribe({ workspace: wsp1 }, into(open))
      here.publish(status(one, 1))
      here.publish(status(one, 2))
      yield* until(() => open.length === 2)
      assert.notInclude(seqs(closed), 2)
    })
  )
})
