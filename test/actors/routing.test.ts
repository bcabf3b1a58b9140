/** Nodes that ask each other: who has an actor, who is to have it, and what becomes of a command on its way. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Result } from "effect"
import type { Reply, Declined } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { hasShard, shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { recorded, violations } from "../invariants.ts"
import { told } from "./Client.ts"
import {
  agentId,
  connect,
  makeWorld,
  type Node,
  pass,
  settle,
  startNode,
  threadOf,
  toRest,
  workspace,
  type World
} from "./World.ts"

const ann: Principal = { type: "user", id: "ann" }

const submit = (
  text: string,
  more: { readonly mode?: SubmitMode; readonly inputId?: string; readonly identity?: string } = {}
): Extract<ThreadRequest, { type: "submit" }> => {
  const { identity, inputId = freshId("input"), mode = "queue" } = more
  return {
    type: "submit",
    input: {
      inputId,
      mode,
      content: [{ type: "text", text }],
      principal: identity === undefined ? ann : { ...ann, identity }
    }
  }
}

const bodyOf = ({ body }: Reply): Readonly<Record<string, unknown>> => ({
  ...(JSON.parse(body) as Readonly<Record<string, unknown>>)
})
const row = ({ store }: World, ref: ActorRef) => store.actors.get(keyOf(ref)) ?? assert.fail("no such actor")
const logOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return told(log)
}

/** Born on that node, in one of its shards. */
const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(node.registry.freshId("thread"))
  yield* node.registry.create(
    ref,
    { parent: agentId, attributes: JSON.stringify({ createdBy: ann }) },
    { request: { type: "create" } }
  )
  return ref
})

/** A world of so many connected nodes, and a thread of the first. */
const setting = Effect.fnUntraced(function* (count = 3, idleMs?: number) {
  const world = makeWorld()
  const wire = yield* connect(world)
  const nodes: Array<Node> = []
  for (let i = 0; i < count; i++) nodes.push(yield* startNode(world, () => undefined, idleMs))
  yield* settle
  const [a, b, c] = nodes
  return { world, wire, a: a!, b: b!, c: c!, ref: yield* create(a!) }
})

/** One more node, when it has got what it is to have: threads at rest of others move to it. */
const join = (world: World, idleMs?: number) =>
  Effect.tap(
    startNode(world, () => undefined, idleMs),
    () => pass(200)
  )

/** What the API does when there is nobody to give an input to (`post` of actors/thread/layer.ts). */
const post = (node: Node, ref: ActorRef, request: Extract<ThreadRequest, { type: "submit" }>) =>
  node.journal.post({
    id: request.input.inputId,
    actor: ref,
    command: JSON.stringify({ ...request, acknowledged: true })
  })

describe("a command to an actor of another node", () => {
  it.effect("is taken by that node, and answered as if it had been asked itself", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      const request = submit("A\n/wait 3s")
      const answer = yield* b.deliver(ref, { request })
      assert.deepInclude(bodyOf(answer), { id: request.input.inputId, state: "admitted", seq: 1 })
      assert.strictEqual(bodyOf(yield* b.deliver(ref, { request: submit("B") })).state, "queued")
      assert.strictEqual(
        (yield* b.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: true } })).kind,
        "found"
      )
      assert.deepInclude(row(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.deepStrictEqual(
        wire.asked.map(({ from, to }) => [from, to]),
        Array.from({ length: 3 }, () => [b.incarnation, a.incarnation])
      )
      yield* toRest(world, a, ref)
      assert.strictEqual(logOf(world, ref), "user(A) turn_cancelled(A)")
    })
  )

  it.effect("is refused there in the same words", () =>
    Effect.gen(function* () {
      const { b, ref, wire } = yield* setting()
      const requests: ReadonlyArray<readonly [ThreadRequest, Declined["reason"]]> = [
        [{ type: "remove", inputId: freshId("input") }, "input_not_pending"],
        [{ type: "cancel", principal: ann, clearQueue: false, turnId: freshId("turn") }, "turn_conflict"],
        [{ type: "retry", inputId: freshId("input"), principal: ann }, "nothing_to_retry"],
        [
          { type: "answer", waitId: freshId("wait"), principal: ann, answer: { type: "tool_result", output: 1 } },
          "wait_not_open"
        ],
        [{ type: "edit", inputId: freshId("input"), content: [{ type: "text", text: "x" }] }, "input_not_pending"],
        [{ type: "promote", inputId: freshId("input"), principal: ann, mode: "steer" }, "input_not_pending"]
      ]
      for (const [request, reason] of requests)
        assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request })), { _tag: "Refused", reason })
      assert.strictEqual(wire.asked.length, requests.length)
      const nobody = threadOf(freshId("thread"))
      assert.deepInclude(yield* Effect.flip(b.deliver(nobody, { request: submit("A") })), {
        _tag: "Refused",
        reason: "not_found"
      })
      const foreign = { ...ref, workspace: freshId("workspace") }
      assert.deepInclude(yield* Effect.flip(b.deliver(foreign, { request: submit("A") })), {
        _tag: "Refused",
        reason: "not_found"
      })
    })
  )

  it.effect("brings its idempotency key along: the effect happens once, whichever nodes are asked", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      const key = { scope: "s", fingerprint: "one" }
      const first = yield* b.deliver(ref, { request: submit("A"), key })
      for (const node of [c, a, b])
        assert.deepStrictEqual(yield* node.deliver(ref, { request: submit("A"), key }), { ...first, replayed: true })
      assert.strictEqual(
        (yield* Effect.flip(c.deliver(ref, { request: submit("B"), key: { ...key, fingerprint: "two" } })))._tag,
        "KeyReused"
      )
      yield* toRest(world, a, ref)
      assert.strictEqual(logOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("breaks there, and says so here", () =>
    Effect.gen(function* () {
      const { b, ref, world } = yield* setting()
      const inputId = freshId("input")
      world.store.once.add(inputId.slice(-26))
      assert.strictEqual((yield* Effect.exit(b.deliver(ref, { request: submit("A", { inputId }) })))._tag, "Failure")
      assert.isTrue(Result.isSuccess(yield* Effect.result(b.deliver(ref, { request: submit("B") }))))
    })
  )
})

describe("an actor that nobody has", () => {
  it.effect("is claimed by the node of its shard, whoever is asked", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, wire, world } = yield* setting(3, 0)
      yield* pass(2_000)
      row(world, ref).owner = null
      wire.asked.length = 0
      yield* c.deliver(ref, { request: submit("A") })
      assert.deepInclude(row(world, ref), { owner: a.incarnation, epoch: 2 })
      yield* toRest(world, a, ref)
      assert.strictEqual(logOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.isTrue(wire.asked.every(({ to }) => to === a.incarnation))
      assert.isUndefined(b.registry.peek(ref.id))
    })
  )

  it.effect("is claimed by whoever was asked when that node does not answer", () =>
    Effect.gen(function* () {
      const { a, c, ref, wire, world } = yield* setting(3, 0)
      yield* pass(2_000)
      row(world, ref).owner = null
      wire.cut.add(a.incarnation)
      yield* c.deliver(ref, { request: submit("A\n/wait 30s") })
      assert.strictEqual(row(world, ref).owner, c.incarnation)
      // And the one that was to have it finds out where it is.
      wire.cut.delete(a.incarnation)
      assert.strictEqual(bodyOf(yield* a.deliver(ref, { request: submit("B") })).state, "queued")
      assert.strictEqual(row(world, ref).owner, c.incarnation)
    })
  )
})

describe("a node that joins", () => {
  /** A thread of the first node that is the newcomer's to have. */
  const moving = Effect.fnUntraced(function* (idleMs?: number, script = "A\n/wait 30s") {
    const world = makeWorld()
    const wire = yield* connect(world)
    const a = yield* startNode(world, () => undefined, idleMs)
    const refs: Array<ActorRef> = []
    for (let i = 0; i < 12; i++) refs.push(yield* create(a))
    for (const ref of refs) yield* a.deliver(ref, { request: submit(script) })
    const b = yield* join(world, idleMs)
    const [ref] = refs.filter(({ id }) => hasShard(b.placement.mine(), shardOf(id)))
    return { world, wire, a, b, ref: ref ?? assert.fail("nothing moves") }
  })

  it.effect("takes nothing from those who live, and finds what they have", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* moving()
      yield* pass(5_000)
      assert.deepInclude(row(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.strictEqual(bodyOf(yield* b.deliver(ref, { request: submit("B") })).state, "queued")
      const c = yield* join(world)
      wire.asked.length = 0
      assert.strictEqual(bodyOf(yield* c.deliver(ref, { request: submit("C") })).state, "queued")
      // Whoever has found an actor asks there at once for a while.
      const first = wire.asked.length
      assert.strictEqual(bodyOf(yield* c.deliver(ref, { request: submit("D") })).state, "queued")
      assert.strictEqual(wire.asked.length, first + 1)
      yield* pass(60_000)
      assert.strictEqual(
        logOf(world, ref),
        ["A", "B", "C", "D"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )

  it.effect("gets its actors once they rest, long before they would leave memory", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* moving(3_600_000)
      yield* pass(30_000)
      assert.deepInclude(row(world, ref), { owner: a.incarnation })
      yield* pass(3_000)
      assert.isNull(row(world, ref).owner)
      assert.isUndefined(a.registry.peek(ref.id))
      yield* a.deliver(ref, { request: submit("B") })
      assert.deepInclude(row(world, ref), { owner: b.incarnation, epoch: 2 })
    })
  )

  it.effect(
    "leaves alone what another owns and has not in memory: it comes back there, and moves when it has rested",
    () =>
      Effect.gen(function* () {
        const world = makeWorld()
        yield* connect(world)
        const a = yield* startNode(world, () => undefined, 0)
        const refs: Array<ActorRef> = []
        for (let i = 0; i < 12; i++) refs.push(yield* create(a))
        yield* pass(2_000)
        const b = yield* join(world, 0)
        const ref = refs.find(({ id }) => hasShard(b.placement.mine(), shardOf(id))) ?? assert.fail("nothing moves")
        assert.deepInclude(row(world, ref), { owner: a.incarnation })
        assert.isUndefined(a.registry.peek(ref.id))
        yield* b.deliver(ref, { request: submit("A") })
        assert.deepInclude(row(world, ref), { owner: a.incarnation, epoch: 2 })
        yield* pass(5_000)
        assert.isNull(row(world, ref).owner)
        yield* a.deliver(ref, { request: submit("B") })
        assert.deepInclude(row(world, ref), { owner: b.incarnation, epoch: 3 })
      })
  )
})

describe("a node that does not answer", () => {
  it.effect("keeps its actors while it has its lease: the command has nobody to go to", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      for (const harm of [
        () => {
          wire.cut.add(a.incarnation)
        },
        () => {
          wire.cut.clear()
          wire.fate = "unheard"
        }
      ]) {
        harm()
        const asked = yield* Effect.forkChild(Effect.flip(b.deliver(ref, { request: submit("A") })))
        yield* pass(2_500)
        assert.deepInclude(yield* Fiber.join(asked), { _tag: "Unreachable", elsewhere: true })
      }
      assert.deepInclude(row(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.strictEqual(logOf(world, ref), "")
    })
  )

  it.effect("and has lapsed has lost them to whoever is asked", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.kill
      const answer = yield* b.deliver(ref, { request: submit("A") })
      assert.strictEqual(bodyOf(answer).state, "admitted")
      assert.deepInclude(row(world, ref), { owner: b.incarnation, epoch: 2 })
    })
  )

  it.effect("is not asked what only its neighbour may ask: outcomes and moments stay where they are", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      for (const request of [{ type: "due" }, { type: "poison" }] as const) {
        assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request })), { _tag: "Unreachable", elsewhere: true })
      }
      assert.deepStrictEqual(wire.asked, [])
      yield* toRest(world, a, ref)
    })
  )
})

describe("a command whose answer was lost", () => {
  /**
   * The owner takes it, and dies before it has answered: whoever asked takes the actor over, and it comes a second
   * time.
   */
  const lost = Effect.fnUntraced(function* (
    request: ThreadRequest,
    first: ReadonlyArray<ThreadRequest> = [],
    then: ReadonlyArray<ThreadRequest> = []
  ) {
    const { a, b, ref, wire, world } = yield* setting(2)
    for (const one of first) yield* a.deliver(ref, { request: one })
    yield* pass(100)
    wire.fate = "unanswered"
    wire.meanwhile = Effect.orDie(
      Effect.andThen(
        Effect.forEach(then, (one) => a.deliver(ref, { request: one })),
        a.kill
      )
    )
    const answer = bodyOf(yield* b.deliver(ref, { request }))
    assert.strictEqual(row(world, ref).owner, b.incarnation)
    yield* toRest(world, b, ref)
    return { answer, log: logOf(world, ref), row: row(world, ref) }
  })

  it.effect("is not taken again when it has opened a turn", () =>
    Effect.gen(function* () {
      const request = submit("A\n/wait 3s")
      const { answer, log } = yield* lost(request)
      assert.deepInclude(answer, {
        id: request.input.inputId,
        turnId: request.input.inputId.replace("inp_", "trn_"),
        state: "admitted",
        seq: 1,
        submitMode: "queue"
      })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("is not taken again when it waits", () =>
    Effect.gen(function* () {
      const request = submit("B")
      const { answer, log } = yield* lost(request, [submit("A\n/wait 3s")])
      assert.deepInclude(answer, { id: request.input.inputId, state: "queued" })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)")
    })
  )

  it.effect("is not taken again when it was cancelled since", () =>
    Effect.gen(function* () {
      const request = submit("B")
      const { answer, log, row } = yield* lost(
        request,
        [submit("A\n/wait 3s")],
        [{ type: "remove", inputId: request.input.inputId }]
      )
      assert.deepInclude(answer, { id: request.input.inputId, state: "queued" })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A)")
      assert.deepStrictEqual(
        [...row.inputs.values()].map(({ state }) => state),
        ["cancelled"]
      )
    })
  )

  it.effect("is not taken again when its turn is long over", () =>
    Effect.gen(function* () {
      const request = submit("A")
      const { answer, log } = yield* lost(request, [], [submit("B"), submit("C")])
      assert.deepInclude(answer, { id: request.input.inputId, state: "admitted", seq: 1 })
      assert.strictEqual(
        log,
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B) user(C) assistant(C) turn_completed(C)"
      )
    })
  )

  it.effect("and retried a turn has retried it once", () =>
    Effect.gen(function* () {
      const { log } = yield* lost({ type: "retry", inputId: freshId("input"), principal: ann }, [
        submit("A\n/fail model_error no")
      ])
      assert.strictEqual(log.match(/user/g)?.length, 2)
    })
  )

  it.effect(
    "and cancelled a turn does not cancel the one that came after it: nobody can tell, and that is said; a key tells",
    () =>
      Effect.gen(function* () {
        for (const key of [undefined, { scope: "s", fingerprint: "f" }]) {
          const { a, b, ref, wire, world } = yield* setting(2)
          for (const name of ["A", "B"]) yield* a.deliver(ref, { request: submit(`${name}\n/wait 3s`) })
          wire.fate = "unanswered"
          wire.meanwhile = a.kill
          const answer = yield* Effect.result(
            b.deliver(ref, {
              request: { type: "cancel", principal: ann, clearQueue: false },
              ...(key === undefined ? {} : { key })
            })
          )
          if (Result.isSuccess(answer)) assert.strictEqual(answer.success.replayed, true)
          else assert.deepInclude(answer.failure, { _tag: "Unreachable" })
          assert.strictEqual(Result.isSuccess(answer), key !== undefined)
          yield* toRest(world, b, ref)
          assert.strictEqual(logOf(world, ref), "user(A) turn_cancelled(A) user(B) assistant(B) turn_completed(B)")
        }
      })
  )

  it.effect("and that did not arrive at all is taken", () =>
    Effect.gen(function* () {
      for (const request of [submit("B"), { type: "cancel", principal: ann, clearQueue: false, turnId: "" } as const]) {
        const { a, b, ref, wire, world } = yield* setting(2)
        const turnId = String(bodyOf(yield* a.deliver(ref, { request: submit("A\n/wait 30s") })).turnId)
        yield* pass(100)
        wire.fate = "unheard"
        const asked = yield* Effect.forkChild(
          b.deliver(ref, { request: request.type === "cancel" ? { ...request, turnId } : request })
        )
        yield* settle
        yield* a.kill
        yield* pass(2_500)
        yield* Fiber.join(asked)
        yield* toRest(world, b, ref)
        assert.strictEqual(
          logOf(world, ref),
          request.type === "cancel"
            ? "user(A) turn_cancelled(A)"
            : "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
        )
      }
    })
  )

  it.effect("is taken once when it was also stored in the inbox, whichever comes first", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      const [first, second] = [submit("B"), submit("C")]
      wire.fate = "unanswered"
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: first })), {
        _tag: "Unreachable",
        elsewhere: true
      })
      yield* post(b, ref, first)
      // And one that was on its way for so long that the inbox was faster.
      yield* post(b, ref, second)
      yield* pass(1_100)
      assert.strictEqual(world.store.inbox.size, 0)
      const late = yield* b.deliver(ref, { request: second })
      assert.deepInclude(bodyOf(late), { id: second.input.inputId, state: "queued" })
      yield* toRest(world, a, ref)
      assert.strictEqual(
        logOf(world, ref),
        ["A", "B", "C"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )
})

describe("what waits in the inbox", () => {
  it.effect("is delivered by the owner within a second, without a hint; with one at once", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      wire.cut.add(b.incarnation)
      yield* post(b, ref, submit("A"))
      yield* pass(1_100)
      assert.match(logOf(world, ref), /^user\(A\)/)
      yield* toRest(world, a, ref)
      yield* post(b, ref, submit("B"))
      wire.shared.wake(shardOf(ref.id))
      yield* pass(50)
      assert.match(logOf(world, ref), /user\(B\)/)
    })
  )

  it.effect("comes before what is asked of the owner directly", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      yield* post(b, ref, submit("A"))
      yield* post(c, ref, submit("B"))
      yield* Effect.all(
        ["C", "D"].map((name) => a.deliver(ref, { request: submit(name) })),
        { concurrency: "unbounded" }
      )
      yield* post(b, ref, submit("E"))
      yield* b.deliver(ref, { request: submit("F") })
      yield* toRest(world, a, ref)
      assert.strictEqual(
        logOf(world, ref),
        ["A", "B", "C", "D", "E", "F"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
      assert.strictEqual(world.store.inbox.size, 0)
    })
  )

  it.effect("comes first also on a node that takes the actor over", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* post(b, ref, submit("B"))
      yield* a.kill
      yield* b.deliver(ref, { request: submit("C") })
      yield* toRest(world, b, ref)
      assert.strictEqual(
        logOf(world, ref),
        ["A", "B", "C"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )

  it.effect("holds nobody up when it cannot be read, and stays for a node that can", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting()
      for (const [id, command] of [
        ["x", "{ not JSON"],
        ["y", `{"type":"submit","input":7}`],
        ["z", `{"type":"model.replied"}`]
      ] as const) {
        world.store.inbox.set(ref.workspace + id, { id, actor: ref, command })
      }
      yield* b.deliver(ref, { request: submit("A") })
      yield* toRest(world, a, ref)
      assert.strictEqual(logOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(world.store.inbox.size, 3)
    })
  )

  it.effect("is read a portion at a time, and a direct input comes behind all of it, however much there is", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      const read: Array<number> = []
      const { inboxRows } = world.store
      world.store.inboxRows = (...asked) => {
        const rows = inboxRows.apply(world.store, asked)
        read.push(rows.length)
        return rows
      }
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      const strange = Array.from({ length: 70 }, (_, i) => `strange${i}`)
      for (const id of strange) world.store.inbox.set(ref.workspace + id, { id, actor: ref, command: "{ not JSON" })
      const posted = Array.from({ length: 90 }, (_, i) => submit(`posted${i}`))
      for (const request of posted) yield* post(b, ref, request)
      const direct = submit("direct")
      assert.strictEqual(bodyOf(yield* a.deliver(ref, { request: direct })).state, "queued")
      assert.deepStrictEqual(
        [...row(world, ref).inputs.values()].filter(({ state }) => state === "pending").map(({ id }) => id),
        [...posted, direct].map(({ input }) => input.inputId)
      )
      assert.deepStrictEqual(
        [...world.store.inbox.values()].map(({ id }) => id),
        strange
      )
      assert.isAtMost(Math.max(...read), 64)
    })
  )

  it.effect("is refused no more: it waits behind a full queue, and its turn fails where it may not run", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting()
      yield* a.deliver(ref, { request: submit("A\n/wait 30s") })
      for (let i = 0; i < 100; i++) yield* a.deliver(ref, { request: submit(`q${i}`) })
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: submit("late") })), {
        _tag: "Refused",
        reason: "queue_full"
      })
      yield* post(b, ref, submit("posted"))
      yield* post(b, ref, submit("disabled", { identity: "eve" }))
      world.disabled.add("eve")
      yield* pass(1_100)
      yield* a.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: false } })
      yield* toRest(world, a, ref)
      assert.match(
        logOf(world, ref),
        /user\(posted\) assistant\(posted\) turn_completed\(posted\) user\(disabled\) turn_failed\(disabled: identity_disabled\)$/
      )
    })
  )
})

describe("what is due", () => {
  it.effect("is taken by the node of its shard at once when its owner dies, and by nobody else", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 20; i++) refs.push(yield* create(a))
      for (const ref of refs) yield* a.deliver(ref, { request: submit("A\n/wait 30s") })
      yield* a.kill
      // The list of nodes is looked at ten times a second.
      yield* pass(150)
      yield* settle
      const owners = refs.map((ref) => row(world, ref).owner)
      assert.deepStrictEqual(
        owners,
        refs.map(({ id }) => (hasShard(b.placement.mine(), shardOf(id)) ? b.incarnation : c.incarnation))
      )
      assert.strictEqual(world.claims, refs.length)
    })
  )

  it.effect("and left lying by a node that lives and does nothing is taken by another", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      // On the list of nodes, and deaf.
      const wedged = freshId("node")
      world.store.nodes.set(wedged, {
        name: "wedged",
        deadline: Infinity,
        status: { actors: 0, births: 0, draining: false, bus: "connected" }
      })
      const posted = threadOf(freshId("thread"))
      yield* b.registry.create(
        posted,
        { parent: agentId, attributes: JSON.stringify({ createdBy: ann }) },
        { request: { type: "create" } }
      )
      for (const each of [ref, posted]) row(world, each).owner = null
      yield* post(b, posted, submit("P"))
      yield* a.kill
      yield* b.kill
      const c = yield* startNode(world, () => undefined)
      yield* pass(5_000)
      for (const each of [ref, posted]) yield* toRest(world, c, each)
      assert.strictEqual(logOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(logOf(world, posted), "user(P) assistant(P) turn_completed(P)")
    })
  )
})

describe("a node that leaves", () => {
  it.effect("hands over what it has, and nobody is refused meanwhile", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 20; i++) refs.push(yield* create(a))
      for (const ref of refs) yield* a.deliver(ref, { request: submit("A\n/wait 2s\n/then\n/wait 2s") })
      const leaving = yield* Effect.forkChild(a.drain(10_000))
      const sent: Array<Fiber.Fiber<Reply, unknown>> = []
      for (let i = 0; i < 12; i++) {
        yield* pass(300)
        for (const [n, ref] of refs.entries())
          sent.push(yield* Effect.forkChild([a, b, c][(i + n) % 3]!.deliver(ref, { request: submit(`m${i}`) })))
      }
      yield* pass(10_000)
      yield* Fiber.join(leaving)
      for (const fiber of sent) assert.strictEqual((yield* Fiber.join(fiber)).kind, "created")
      for (const ref of refs) assert.notStrictEqual(row(world, ref).owner, a.incarnation)
      yield* a.kill
      for (const ref of refs) {
        const node =
          [b, c].find(({ incarnation }) => row(world, ref).owner === incarnation) ?? assert.fail("nobody has it")
        yield* toRest(world, node, ref)
        assert.strictEqual(logOf(world, ref).match(/turn_completed/g)?.length, 13)
        assert.strictEqual(row(world, ref).fruitless, 0)
      }
    })
  )

  it.effect("has the others read the list of nodes at once, before it gives anything back", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      assert.deepStrictEqual(world.beats, [])
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(50)
      assert.sameMembers(world.beats, [a.incarnation, b.incarnation, c.incarnation])
      assert.strictEqual(row(world, ref).owner, a.incarnation)
      yield* pass(1_500)
      yield* Fiber.join(leaving)
      assert.notStrictEqual(row(world, ref).owner, a.incarnation)
    })
  )

  it.effect("gives back what rests at once, and what works as soon as its step has ended", () =>
    Effect.gen(function* () {
      const { a, ref: resting, world } = yield* setting()
      const working = yield* create(a)
      yield* a.deliver(working, { request: submit("A\n/wait 5s") })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_200)
      assert.notStrictEqual(row(world, resting).owner, a.incarnation)
      assert.strictEqual(row(world, working).owner, a.incarnation)
      yield* pass(4_000)
      assert.notStrictEqual(row(world, working).owner, a.incarnation)
      yield* pass(100)
      yield* Fiber.join(leaving)
      assert.strictEqual(logOf(world, working), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("alone refuses new work, and gives everything back", () =>
    Effect.gen(function* () {
      const { a, ref, world } = yield* setting(1)
      const leaving = yield* Effect.forkChild(a.drain(1_000))
      yield* pass(1_500)
      yield* Fiber.join(leaving)
      assert.isNull(row(world, ref).owner)
      assert.strictEqual((yield* Effect.flip(a.deliver(ref, { request: submit("B") })))._tag, "Draining")
    })
  )
})

describe("a question", () => {
  const ask = (
    wire: {
      readonly shared: { readonly request: (to: string, message: string, ms: number) => Effect.Effect<string, unknown> }
    },
    to: string,
    message: unknown
  ) =>
    Effect.map(
      wire.shared.request(to, typeof message === "string" ? message : JSON.stringify(message), 2_000),
      (text): unknown => JSON.parse(text)
    )
  const question = (to: string, ref: ActorRef, more: object = {}) => ({
    v: 1,
    to,
    at: 0,
    until: 2_000,
    kind: "thread",
    workspace,
    id: ref.id,
    command: "c",
    request: submit("A"),
    ...more
  })

  it.effect(
    "is taken by nobody but the incarnation that it names, and only while that has its lease and somebody waits",
    () =>
      Effect.gen(function* () {
        const { a, b, ref, wire, world } = yield* setting()
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(b.incarnation, ref)), {
          v: 1,
          unwilling: "stranger"
        })
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(a.incarnation, ref, { until: 50 })), {
          v: 1,
          unwilling: "late"
        })
        world.fenced.add(a.incarnation)
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(a.incarnation, ref)), {
          v: 1,
          unwilling: "fenced"
        })
        world.fenced.delete(a.incarnation)
        assert.strictEqual(logOf(world, ref), "")
        assert.property(yield* ask(wire, a.incarnation, question(a.incarnation, ref)), "answer")
      })
  )

  it.effect("that is none is refused, and one line says so, however many come", () => {
    const lines: Array<unknown> = []
    return Effect.gen(function* () {
      const { a, ref, wire, world } = yield* setting()
      const good = question(a.incarnation, ref)
      const bad: ReadonlyArray<unknown> = [
        "",
        "{",
        "null",
        "[]",
        `"x"`,
        "\u0000".repeat(100),
        { ...good, v: 2 },
        { ...good, v: "1" },
        { ...good, kind: "schedule" },
        { ...good, kind: "identity" },
        { ...good, id: "thr_1" },
        { ...good, id: freshId("agent") },
        { ...good, workspace: "*" },
        { ...good, workspace: `${workspace}'` },
        { ...good, to: undefined },
        { ...good, at: "now" },
        { ...good, command: "" },
        { ...good, command: "c".repeat(65) },
        { ...good, key: { scope: "s" } },
        { ...good, owned: "yes" },
        { ...good, request: undefined },
        { ...good, request: { type: "poison" } },
        { ...good, request: { type: "due" } },
        { ...good, request: { type: "create" } },
        { ...good, request: { type: "model.replied", turnId: freshId("turn") } },
        { ...good, request: { type: "submit" } },
        { ...good, request: { ...submit("A"), input: { ...submit("A").input, inputId: "inp_1" } } }
      ]
      for (const message of bad)
        assert.deepStrictEqual(
          yield* ask(wire, a.incarnation, message),
          { v: 1, unwilling: "malformed" },
          JSON.stringify(message)
        )
      assert.strictEqual(logOf(world, ref), "")
      assert.strictEqual(lines.length, 1)
    }).pipe(
      Effect.provide(
        Logger.layer([
          Logger.make(({ message }) => {
            lines.push(message)
          })
        ])
      )
    )
  })

  it.effect("whose reply nobody understands has no answer", () =>
    Effect.gen(function* () {
      const { b, ref, world, wire } = yield* setting(2)
      const strange = freshId("node")
      world.store.nodes.set(strange, {
        name: "strange",
        deadline: Infinity,
        status: { actors: 0, births: 0, draining: false, bus: "connected" }
      })
      yield* wire.shared.serve(strange, () => Effect.succeed(`{"v":9,"answer":"yes"}`))
      row(world, ref).owner = strange
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: submit("A") })), {
        _tag: "Unreachable",
        elsewhere: true
      })
    }).pipe(Effect.scoped)
  )
})
