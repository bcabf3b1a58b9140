/** What one workspace may have under way on a node (K1 to K5 of actors/Bulkheads.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { Bulkheads, Place, type Seat } from "../../actors/Bulkheads.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { hook } from "./Toolbox.ts"
import { toRest } from "./Node.ts"
import { agentId, pass, plan, settle, threadOf } from "./World.ts"
import { begin, cancel, free, isOver, over, setting, slots, waiting } from "./bulkheadFixture.ts"
import { submit, wordsOf } from "./threads.ts"

describe("slots", () => {
  it("are never more than a workspace's, are all given back, and leave nobody waiting for nothing", () => {
    const move = fc.record({
      act: fc.constantFrom("job", "job", "jobs first", "watch", "end", "end", "end", "give back"),
      who: fc.nat({ max: 11 }),
      which: fc.nat()
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(move, { maxLength: 120 }),
        (turns, calls, moves) => {
          let now = 1
          const bulkheads = new Bulkheads({ turns, calls })
          const clock = { now: () => now, fenced: () => false }
          const actors = Array.from({ length: 12 }, (_, i) => ({
            seat: bulkheads.seat(`w${i % 2}`, clock),
            jobs: [] as Place[]
          }))
          /** Jobs that take slots. */
          const entered = new Set<Place>()
          const holds = (seat: Seat, jobs: ReadonlyArray<Place>) =>
            seat.isIdle || (seat.waitingFor !== "turn_slot" && jobs.some((job) => entered.has(job)))
          const check = () => {
            const { call, turn } = bulkheads.filling()
            assert.isAtMost(turn.used, turns * 2)
            assert.isAtMost(call.used, calls * 2)
            for (const parity of [0, 1]) {
              const own = actors.filter((_, i) => i % 2 === parity)
              const isWaiting = own.some(({ seat }) => seat.waitingFor === "turn_slot")
              const inTurn = own.filter(({ jobs, seat }) => holds(seat, jobs)).length
              assert.isAtMost(inTurn, turns)
              if (isWaiting) assert.strictEqual(inTurn, turns)
              if (own.some(({ seat }) => seat.waitingFor === "call_slot")) {
                assert.strictEqual(
                  own.flatMap(({ jobs }) => jobs).filter((job) => entered.has(job) && !job.isWaiting).length,
                  calls
                )
              }
            }
          }
          for (const { act, which, who } of moves) {
            now += 1
            const { jobs, seat } = actors[who] ?? assert.fail()
            if (act === "give back") {
              if (seat.isIdle) seat.release()
            } else if (act === "end") {
              const [job] = jobs.splice(which % Math.max(1, jobs.length), 1)
              job?.leave()
            } else {
              const job = new Place(seat)
              jobs.push(job)
              if (act === "watch") continue
              entered.add(job)
              job.enter(0, act === "jobs first")
            }
            check()
          }
          for (const { jobs, seat } of actors) {
            for (const job of jobs.splice(0)) job.leave()
            if (seat.isIdle) seat.release()
          }
          assert.deepStrictEqual(bulkheads.filling(), free)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("count as time in line only while nothing of the turn runs, and only what belongs to its running time", () => {
    let now = 100
    const clock = { now: () => now, fenced: () => false }
    const bulkheads = new Bulkheads({ turns: 0, calls: 1 })
    const other = new Place(bulkheads.seat("w", clock))
    other.enter(100, false)
    const seat = bulkheads.seat("w", clock)
    const job = new Place(seat)
    job.enter(100, false)
    now = 150
    assert.strictEqual(seat.queuedMs(100), 50)
    // A question to another agent runs beside it.
    const asks = new Place(seat)
    now = 170
    assert.strictEqual(seat.queuedMs(100), 50)
    asks.leave()
    now = 180
    assert.strictEqual(seat.queuedMs(100), 60)
    other.leave()
    now = 200
    assert.strictEqual(seat.queuedMs(100), 60)
    assert.strictEqual(seat.queuedMs(190), 0, "the turn has awaited somebody since")
    const third = new Place(seat)
    third.enter(190, false)
    now = 210
    assert.strictEqual(seat.queuedMs(190), 0, "a job of the turn runs")
    job.leave()
    assert.strictEqual(seat.queuedMs(190), 0)
    third.leave()
  })
})

describe("turns of one workspace", () => {
  it.effect("run as many at once as it has slots, in the order in which they came; those of others do not notice", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 2, calls: 0 } })
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 5; i++) refs.push(yield* begin(node, `T${i}\n/wait 10s`))
      const other = yield* begin(node, "O\n/wait 10s", {
        ...threadOf(freshId("thread")),
        workspace: freshId("workspace")
      })
      yield* pass(1_000)
      assert.deepStrictEqual(yield* waiting(node, [...refs, other]), [
        undefined,
        undefined,
        "turn_slot",
        "turn_slot",
        "turn_slot",
        undefined
      ])
      assert.deepStrictEqual(slots(node), { turn: { used: 3, waiting: 3 }, call: { used: 3, waiting: 0 } })
      yield* pass(10_000)
      assert.deepStrictEqual(over(world, [...refs, other]), [true, true, false, false, false, true])
      assert.deepStrictEqual(yield* waiting(node, refs), [undefined, undefined, undefined, undefined, "turn_slot"])
      yield* pass(10_000)
      assert.deepStrictEqual(over(world, refs), [true, true, true, true, false])
      yield* pass(10_000)
      assert.deepStrictEqual(over(world, refs), [true, true, true, true, true])
      assert.deepStrictEqual(slots(node), free)
    })
  )

  it.effect("that others wait for go first", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 0 } })
      const first = yield* begin(node, "A\n/wait 10s")
      const second = yield* begin(node, "B\n/wait 10s")
      const asked = yield* begin(node, "C\n/wait 10s", undefined, {
        asked: { agentId, threadId: freshId("thread"), depth: 1 }
      })
      const reviews = yield* begin(node, "D\n/wait 10s", undefined, {
        reviews: { agentId, threadId: freshId("thread") }
      })
      yield* pass(11_000)
      assert.deepStrictEqual(yield* waiting(node, [asked, reviews, second]), [undefined, "turn_slot", "turn_slot"])
      yield* pass(10_000)
      assert.deepStrictEqual(over(world, [first, asked, reviews, second]), [true, true, false, false])
      yield* pass(10_000)
      assert.deepStrictEqual(over(world, [first, asked, reviews, second]), [true, true, true, false])
      yield* pass(10_000)
      assert.isTrue(isOver(world, second))
    })
  )

  it.effect("give their slot back while they await somebody, and between two attempts", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const awaits = yield* begin(node, "A\n/call ask {}")
      yield* settle
      assert.deepStrictEqual(slots(node), free)
      const other = yield* begin(node, "B\n/wait 1s")
      yield* pass(2_000)
      assert.isTrue(isOver(world, other))
      yield* pass(10_000)
      assert.strictEqual(
        wordsOf(world, awaits),
        "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
      )
      const fails = yield* begin(node, "F\n/fail model_overloaded busy")
      const next = yield* begin(node, "N\n/wait 100ms")
      yield* pass(300)
      assert.deepStrictEqual(over(world, [fails, next]), [false, true])
      yield* toRest(world, node, fails)
      assert.deepStrictEqual(slots(node), free)
    })
  )

  it.effect("leave no trace when they are cancelled in line, and their thread's next turn stands at its end", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const [a, b, c] = [
        yield* begin(node, "A\n/wait 10s"),
        yield* begin(node, "B\n/wait 10s"),
        yield* begin(node, "C\n/wait 10s")
      ]
      yield* node.deliver(b, { request: submit("D\n/wait 10s") })
      yield* node.deliver(b, { request: cancel })
      assert.deepStrictEqual(yield* waiting(node, [a, b, c]), [undefined, "turn_slot", "turn_slot"])
      yield* pass(11_000)
      assert.deepStrictEqual(yield* waiting(node, [a, b, c]), [undefined, "turn_slot", undefined])
      yield* node.deliver(c, { request: cancel })
      yield* settle
      assert.deepStrictEqual(yield* waiting(node, [b]), [undefined])
      yield* pass(11_000)
      assert.strictEqual(wordsOf(world, b), "user(B) turn_cancelled(B) user(D) assistant(D) turn_completed(D)")
      assert.deepStrictEqual(slots(node), free)
    })
  )

  it.effect("of one thread do not keep its slot for the next one while others stand in line", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 0 } })
      const busy = yield* begin(node, "A\n/wait 10s")
      for (const name of ["B", "C"]) yield* node.deliver(busy, { request: submit(`${name}\n/wait 10s`) })
      const other = yield* begin(node, "O\n/wait 10s")
      yield* pass(21_000)
      assert.isTrue(isOver(world, other))
      yield* pass(20_000)
      assert.isTrue(isOver(world, busy))
    })
  )
})

describe("calls of one workspace", () => {
  it.effect("run as many at once as it has slots: of models, tools and hooks", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({
        slots: { turns: 0, calls: 1 },
        hooks: [hook("allow", "before_tool_call")],
        plan: { ...plan, maxParallelTools: 4 }
      })
      const refs = yield* Effect.forEach(["A", "B"], (name) => begin(node, `${name}\n/call often {}\n/call often {}`))
      let most = 0
      for (let i = 0; i < 600 && !refs.every((ref) => isOver(world, ref)); i++) {
        const { call } = slots(node)
        assert.isAtMost(call.used, 1)
        most = Math.max(most, call.waiting)
        yield* pass(100)
      }
      // Four questions of a second each, and four runs of two.
      assert.deepStrictEqual([most, world.finished, world.decided], [3, 4, 4])
      for (const [i, name] of ["A", "B"].entries())
        assert.match(wordsOf(world, refs[i] ?? assert.fail()), new RegExp(`turn_completed\\(${name}\\)$`))
      assert.deepStrictEqual(slots(node), free)
      assert.deepStrictEqual(world.complaints, [])
    })
  )

  it.effect("say that they wait, and do not run before they have theirs", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 0, calls: 1 } })
      const first = yield* begin(node, "A\n/wait 10s")
      const second = yield* begin(node, "B\n/call once {}")
      yield* pass(9_000)
      assert.deepStrictEqual(yield* waiting(node, [first, second]), [undefined, "call_slot"])
      yield* pass(2_000)
      assert.strictEqual(world.runs.size, 1)
      yield* pass(3_000)
      assert.isTrue(isOver(world, second))
    })
  )

  it.effect("begin nothing while their node is fenced, and go on when it has its lease again", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 0, calls: 1 } })
      const first = yield* begin(node, "A\n/wait 10s")
      const second = yield* begin(node, "B\n/call once {}\n/call once {}")
      const third = yield* begin(node, "C\n/call once {}")
      yield* pass(9_950)
      world.fenced.add(node.incarnation)
      yield* pass(60)
      assert.strictEqual(world.runs.size, 0)
      world.fenced.delete(node.incarnation)
      for (const ref of [first, second, third]) yield* toRest(world, node, ref)
      assert.strictEqual(world.runs.size, 3)
      assert.deepStrictEqual(world.complaints, [])
      assert.deepStrictEqual(slots(node), free)
    })
  )
})
