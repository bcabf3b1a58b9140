/**
 * What one workspace may have under way on a node (K1 to K5 of actors/Bulkheads.ts), and what a mailbox and a node's
 * memory hold (H7, G4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Metric, Result } from "effect"
import fc from "fast-check"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import { Bulkheads, Place, type Seat } from "../../actors/Bulkheads.ts"
import type { Envelope } from "../../actors/envelope.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { openTurns, recorded, violations } from "../invariants.ts"
import { told } from "./Client.ts"
import { hook } from "./Toolbox.ts"
import { agentId, makeWorld, type Node, pass, plan, settle, startNode, threadOf, toRest, type World } from "./World.ts"

const ann: Principal = { type: "user", id: "ann" }
const born = { createdBy: ann, updatedBy: ann }

const message = (text: string) => ({
  inputId: freshId("input"),
  mode: "queue" as const,
  content: [{ type: "text" as const, text }],
  principal: ann
})
const submit = (text: string): ThreadRequest => ({ type: "submit", input: message(text) })
const cancel: ThreadRequest = { type: "cancel", principal: ann, clearQueue: false }

/** A thread whose first turn goes by this script. */
const begin = Effect.fnUntraced(function* (
  node: Node,
  text: string,
  ref: ActorRef = threadOf(freshId("thread")),
  more: object = {}
) {
  yield* node.registry.create(
    ref,
    { parent: agentId, attributes: JSON.stringify({ ...born, ...more }) },
    { request: { type: "submit", creating: true, input: message(text) } }
  )
  return ref
})

const setting = Effect.fnUntraced(function* (given: Partial<World>) {
  const world = Object.assign(makeWorld(), given)
  return { world, node: yield* startNode(world, () => undefined) }
})

const recordOf = ({ store }: World, ref: ActorRef) => (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
const logOf = (world: World, ref: ActorRef) => {
  const log = recordOf(world, ref)
  assert.deepStrictEqual(violations(log), [])
  return told(log)
}
const isOver = (world: World, ref: ActorRef) => {
  const log = recordOf(world, ref)
  return log.length > 0 && openTurns(log).length === 0
}
const over = (world: World, refs: ReadonlyArray<ActorRef>) => refs.map((ref) => isOver(world, ref))
const waitingFor = (node: Node, ref: ActorRef) => node.registry.waitingFor(ref, undefined)
const waiting = (node: Node, refs: ReadonlyArray<ActorRef>) => Effect.forEach(refs, (ref) => waitingFor(node, ref))
const slots = (node: Node) => node.registry.wakeable.slots()
const free = { turn: { used: 0, waiting: 0 }, call: { used: 0, waiting: 0 } }

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
        logOf(world, awaits),
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
      assert.strictEqual(logOf(world, b), "user(B) turn_cancelled(B) user(D) assistant(D) turn_completed(D)")
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
        assert.match(logOf(world, refs[i] ?? assert.fail()), new RegExp(`turn_completed\\(${name}\\)$`))
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

describe("time in line", () => {
  it.effect(
    "is no running time: a turn that waits for longer than it may run does not time out, and one that runs longer does",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 }, plan: { ...plan, maxTurnMs: 5_000 } })
        const names = ["A", "B", "C", "D", "E"]
        const refs = yield* Effect.forEach(names, (name) => begin(node, `${name}\n/wait 4s`))
        const long = yield* begin(node, "L\n/wait 8s")
        const last = yield* begin(node, "Z\n/wait 4s")
        yield* pass(24_500)
        assert.isFalse(isOver(world, long))
        yield* pass(1_500)
        assert.strictEqual(logOf(world, long), "user(L) turn_failed(L: turn_timeout)")
        yield* pass(5_000)
        for (const [i, ref] of [...refs, last].entries())
          assert.match(logOf(world, ref), /turn_completed\(\w\)$/, names[i] ?? "Z")
      })
  )

  it.effect("is none of it between steps either", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 0, calls: 1 }, plan: { ...plan, maxTurnMs: 12_000 } })
      // Steps of two seconds, which wait for each other.
      const script = (name: string) => `${name}\n/call often {}\n/then\n/call often {}\n/then\n/call often {}`
      const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, script(name)))
      yield* pass(22_000)
      assert.deepStrictEqual(over(world, refs), [true, true, true])
      for (const ref of refs) assert.match(logOf(world, ref), /turn_completed/)
    })
  )
})

describe("turns in line", () => {
  it.effect(
    "are so many at most: a client that would begin one more is refused, and nothing that was taken, or that an agent asks",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 1, calls: 0, line: 2 } })
        const resting = yield* begin(node, "R")
        yield* pass(1_000)
        const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, `${name}\n/wait 4s`))
        yield* settle
        const full = { reason: "rate_limited", code: "turns_waiting", retryAfterSeconds: 5 } as const
        const unborn = threadOf(freshId("thread"))
        assert.deepInclude(yield* Effect.flip(begin(node, "D\n/wait 4s", unborn)), full)
        assert.isUndefined(world.store.actors.get(keyOf(unborn)))
        assert.deepInclude(yield* Effect.flip(node.deliver(resting, { request: submit("D") })), full)

        const [running = assert.fail(), ...others] = refs
        yield* node.deliver(running, { request: submit("E\n/wait 4s") })
        const asked = threadOf(freshId("thread"))
        yield* node.registry.create(
          asked,
          { parent: agentId, attributes: JSON.stringify(born) },
          {
            request: {
              type: "submit",
              creating: true,
              input: { ...message("F\n/wait 4s"), principal: { type: "agent", id: agentId } }
            }
          }
        )
        yield* node.deliver(resting, { request: { type: "submit", input: message("P\n/wait 4s"), acknowledged: true } })
        for (const ref of [...others, asked, resting, running]) yield* toRest(world, node, ref)
        assert.match(logOf(world, running), /turn_completed\(E\)$/)
        assert.match(logOf(world, resting), /turn_completed\(P\)$/)
        yield* begin(node, "G")
        assert.deepStrictEqual(world.complaints, [])
      })
  )

  it.effect(
    "whose node dies go on elsewhere within the heir's slots, and what they waited is not held against them",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 2, calls: 0 }, plan: { ...plan, maxTurnMs: 20_000 } })
        const refs = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, i) => `T${i}`),
          (name) => begin(node, `${name}\n/wait 8s`)
        )
        yield* pass(18_000)
        assert.deepStrictEqual(over(world, refs), [true, true, true, true, false, false])
        const more = yield* Effect.forEach(
          Array.from({ length: 4 }, (_, i) => `U${i}`),
          (name) => begin(node, `${name}\n/wait 8s`)
        )
        yield* pass(4_000)
        yield* node.kill
        const heir = yield* startNode(world, () => undefined)
        let most = 0
        const all = [...refs, ...more]
        for (let i = 0; i < 100 && !all.every((ref) => isOver(world, ref)); i++) {
          yield* pass(500)
          most = Math.max(most, slots(heir).turn.used)
        }
        assert.strictEqual(most, 2)
        for (const ref of all) assert.match(logOf(world, ref), /^user\((\w+)\) assistant\(\1\) turn_completed\(\1\)$/)
        assert.deepStrictEqual(slots(heir), free)
      })
  )

  it.effect("are given back at once by a node that leaves", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const runs = yield* begin(node, "A\n/wait 10s")
      const waits = yield* Effect.forEach(["B", "C", "D"], (name) => begin(node, `${name}\n/wait 1s`))
      const heir = yield* startNode(world, () => undefined)
      const draining = yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(6_000)
      assert.deepStrictEqual(over(world, waits), [true, true, true])
      assert.isFalse(isOver(world, runs))
      yield* pass(16_000)
      yield* Fiber.join(draining)
      assert.deepStrictEqual(slots(node), free)
      yield* toRest(world, heir, runs)
      assert.strictEqual(logOf(world, runs), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("keep their place while the journal does not answer, and hold no slot that they do not need", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, `${name}\n/wait 2s`))
      const from = world.store.commits
      world.store.fault = (commit) => (commit - from <= 2 ? "unavailable" : undefined)
      for (const ref of refs) yield* toRest(world, node, ref)
      for (const ref of refs) assert.match(logOf(world, ref), /^user\((\w+)\) assistant\(\1\) turn_completed\(\1\)$/)
      assert.deepStrictEqual(slots(node), free)
    })
  )
})

describe("a mailbox that is full", () => {
  const refusals = Effect.map(Metric.snapshot, (all) =>
    all.reduce(
      (sum, { attributes, id, state, type }) =>
        sum +
        (id === "troupe_mailbox_full_total" && type === "Counter" && attributes?.kind === "thread"
          ? Number(state.count)
          : 0),
      0
    )
  )

  it.effect("refuses commands of clients, and nothing else; what it took is worked off", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({})
      const ref = yield* begin(node, "A\n/wait 2s")
      yield* settle
      const gate = yield* Deferred.make<void>()
      world.slowness = Deferred.await(gate)
      const asked: Array<Fiber.Fiber<Result.Result<Reply, ActorError>>> = []
      const ask = (envelope: Envelope<ThreadRequest>) =>
        Effect.map(
          Effect.forkChild(Effect.result(node.deliver(ref, envelope)), { startImmediately: true }),
          (fiber) => {
            asked.push(fiber)
          }
        )
      const remove = (): Envelope<ThreadRequest> => ({ request: { type: "remove", inputId: freshId("input") } })
      const answered = () => asked.map((fiber) => fiber.pollUnsafe() !== undefined)
      // Its append hangs; what comes now waits.
      yield* ask({ request: submit("B") })
      yield* settle
      for (let i = 0; i < 256; i++) yield* ask(remove())
      yield* settle
      assert.notInclude(answered(), true)

      const before = yield* refusals
      const refused = yield* Effect.flip(node.deliver(ref, remove()))
      assert.deepInclude(refused, {
        _tag: "Refused",
        reason: "rate_limited",
        code: "mailbox_full",
        retryAfterSeconds: 1
      })
      assert.deepInclude(yield* Effect.flip(node.deliver(ref, { request: submit("C") })), { code: "mailbox_full" })
      assert.strictEqual((yield* refusals) - before, 2)

      // It may have been taken before: told so, its sender would send it anew.
      yield* ask({ ...remove(), sent: { id: "x", at: 0, redelivered: true } })
      const posted = message("P")
      yield* node.journal.post(
        {
          id: posted.inputId,
          actor: ref,
          command: JSON.stringify({ type: "submit", input: posted, acknowledged: true })
        },
        undefined
      )
      // The model answers meanwhile, and the sweep finds the row.
      yield* pass(4_000)
      assert.notInclude(answered(), true)
      world.slowness = Effect.void
      yield* Deferred.succeed(gate, undefined)
      yield* toRest(world, node, ref)
      assert.notInclude(answered(), false)
      for (const fiber of asked.slice(1)) {
        const result = yield* Fiber.join(fiber)
        assert.deepInclude(Result.isFailure(result) ? result.failure : {}, { reason: "input_not_pending" })
      }
      assert.deepStrictEqual([...logOf(world, ref).matchAll(/user\((\w)\)/g)].map(([, name]) => name).sort(), [
        "A",
        "B",
        "P"
      ])
      yield* node.deliver(ref, { request: submit("Z") })
      yield* toRest(world, node, ref)
      assert.match(logOf(world, ref), /turn_completed\(Z\)$/)
    })
  )
})

describe("a node's memory", () => {
  it.effect("holds no more actors at rest than it is to hold, the longest at rest leaving first; births go on", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ mostActors: 20 })
      const runs = yield* begin(node, "R\n/wait 30s")
      const refs = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, i) => `T${i}`),
        (name) => begin(node, name)
      )
      yield* pass(1_000)
      assert.isAtMost(node.registry.wakeable.size(), 20)
      assert.isTrue(node.registry.wakeable.isLive(runs))
      assert.isTrue(node.registry.wakeable.isLive(refs.at(-1) ?? assert.fail()))
      assert.isFalse(node.registry.wakeable.isLive(refs[0] ?? assert.fail()))
      for (const ref of refs) assert.isTrue(isOver(world, ref))
      yield* node.deliver(refs[0] ?? assert.fail(), { request: submit("again") })
      yield* toRest(world, node, refs[0] ?? assert.fail())
      assert.match(logOf(world, refs[0] ?? assert.fail()), /turn_completed\(again\)$/)
    })
  )

  it.effect("lets go of those that await somebody, who are woken when their time is over", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ mostActors: 4 })
      const refs = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => `T${i}`),
        (name) => begin(node, `${name}\n/call ask {}`)
      )
      yield* pass(1_000)
      assert.isAtMost(node.registry.wakeable.size(), 4)
      yield* pass(15_000)
      for (const ref of refs)
        assert.match(logOf(world, ref), /result\((\w+): tool_timeout\) assistant\(\1\) turn_completed\(\1\)$/)
    })
  )
})
