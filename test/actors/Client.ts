/**
 * A client of one thread in a `World`, and the run of a scenario: it asks whatever node lives, and
 * when that node dies under a request, it asks the next one again, under the same idempotency key.
 * It keeps the books of what it was told: `test/invariants.ts` holds the journal against them.
 */
import { openWaits, type OpenWait } from "../../machines/thread/context.ts"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Result, Scope, Semaphore } from "effect"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { parseCarry as carryIn, factOf } from "../../actors/thread/replies/rows.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Watch } from "../../src/bus/hints.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { foldCarry, plainSnapshot } from "../../machines/thread/fold.ts"
import { openTurns, recorded, type Recorded, unaccounted, violations } from "../invariants.ts"
import { asStored, coldClaim, type Node, startNode, toRest } from "./Node.ts"
import { pass, settle, threadOf, type World, workspace } from "./World.ts"
import { ann, birth } from "./threads.ts"

interface Told {
  readonly id: string
  readonly state: string
  readonly turnId: string
}

export class Client {
  readonly world: World
  node!: Node
  ref: ActorRef | undefined
  deaths = 0
  private keys = 0
  readonly inputs = new Map<string, string>()
  readonly accepted: Array<{ readonly inputId: string; readonly mode: SubmitMode }> = []
  readonly gone = new Set<string>()
  readonly unordered = new Set<string>()
  readonly joins = new Map<string, string>()

  constructor(world: World) {
    this.world = world
  }

  /** What the client's node shows to others: none, or a stream of each kind. */
  watch: Omit<Watch, "workspace"> | undefined
  /** Nodes that left in order. */
  left = 0
  private leaving = 0

  readonly start: () => Effect.Effect<void> = Effect.fnUntraced(
    function* (this: Client) {
      const node = yield* startNode(this.world, () => this.ref)
      if (this.watch !== undefined)
        yield* Scope.provide(
          node.bus.subscribe({ workspace, ...this.watch }, () => {}),
          yield* Scope.make()
        )
      this.node = node
      yield* Effect.forkDetach(Effect.andThen(node.told, this.handOver(node)), { startImmediately: true })
    }.bind(this)
  )

  /** Another node comes, and the one that was told to leave gives away what it has, in its own time. */
  private readonly handOver = Effect.fnUntraced(
    function* (this: Client, node: Node) {
      this.left++
      this.leaving++
      const draining = yield* Effect.forkDetach(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* this.start()
      yield* Fiber.join(draining)
      yield* node.kill
      this.leaving--
    }.bind(this)
  )

  /** Another node takes over what the dead one held: first a look at what it will find. */
  private readonly recover = Effect.fnUntraced(
    function* (this: Client, node: Node) {
      if (this.node !== node) return
      this.deaths++
      const { ref } = this
      const live = ref === undefined ? undefined : node.registry.peek(ref.id)
      yield* node.kill
      // A crash after the commit leaves the journal one step ahead.
      if (
        ref !== undefined &&
        live !== undefined &&
        this.world.misfortunes[this.deaths - 1]?.fault === "crash before"
      ) {
        assert.deepStrictEqual(
          plainSnapshot(node.kind.load(yield* coldClaim(this.world, ref))),
          plainSnapshot(live),
          "a cold claim finds the live thread"
        )
      }
      yield* this.start()
      yield* pass(1_000)
    }.bind(this),
    Semaphore.makeUnsafe(1).withPermits(1)
  )

  protected readonly ask: (
    made: (node: Node) => Effect.Effect<Reply, ActorError>
  ) => Effect.Effect<Reply | ActorError> = Effect.fnUntraced(
    function* (this: Client, made: (node: Node) => Effect.Effect<Reply, ActorError>) {
      for (;;) {
        const { node } = this
        const asked = yield* Effect.forkChild(Effect.result(node.ask(made(node))), { startImmediately: true })
        yield* settle
        // A node that waits for its beat answers a moment later.
        while (asked.pollUnsafe() === undefined) yield* pass(50)
        const answer = yield* Fiber.join(asked)
        yield* settle
        // It may also have died since it answered, over a job.
        if (node.isDead()) yield* this.recover(node)
        if (Result.isSuccess(answer)) {
          if (answer.success !== "died") return answer.success
        } else if (answer.failure._tag !== "Unreachable" && answer.failure._tag !== "Draining") return answer.failure
        // Soon: what it asks for is to come at the moment at which it would have come.
        else if (!node.isDead()) yield* pass(100)
      }
    }.bind(this)
  )

  private request(make: () => ThreadRequest) {
    const key = { scope: `k${++this.keys}`, fingerprint: "f" }
    return this.ask((node) => node.deliver(this.ref ?? assert.fail("no thread yet"), { request: make(), key }))
  }

  private note(name: string, mode: SubmitMode, answer: Reply) {
    const told = JSON.parse(answer.body) as Told
    this.inputs.set(name, told.id)
    this.accepted.push({ inputId: told.id, mode })
    if (told.state === "steered") this.joins.set(told.id, told.turnId)
  }

  private input(
    name: string,
    mode: SubmitMode,
    script: string,
    more: { readonly identity?: string; readonly model?: string } = {}
  ) {
    const { identity, ...rest } = more
    return {
      inputId: freshId("input"),
      mode,
      content: [{ type: "text" as const, text: script === "" ? name : `${name}\n${script}` }],
      principal: identity === undefined ? ann : { ...ann, identity },
      ...rest
    }
  }

  /** Creates the thread, with a first message when a script is given. */
  readonly create = Effect.fnUntraced(
    function* (this: Client, name?: string, script = "") {
      const key = { scope: "create", fingerprint: "f" }
      const answer = yield* this.ask((node) =>
        node.registry.create(threadOf(freshId("thread")), birth, {
          key,
          request:
            name === undefined
              ? { type: "create" }
              : { type: "submit", creating: true, input: this.input(name, "queue", script) }
        })
      )
      if (!("kind" in answer)) return assert.fail(`create: ${answer._tag}`)
      const body = JSON.parse(answer.body) as { readonly thread: { readonly id: string }; readonly input?: unknown }
      this.ref = threadOf(body.thread.id)
      if (name !== undefined) this.note(name, "queue", { ...answer, body: JSON.stringify(body.input) })
    }.bind(this)
  )

  readonly send = Effect.fnUntraced(
    function* (
      this: Client,
      name: string,
      mode: SubmitMode = "queue",
      script = "",
      more: { readonly identity?: string; readonly model?: string } = {}
    ) {
      const answer = yield* this.request(() => ({ type: "submit", input: this.input(name, mode, script, more) }))
      if (!("kind" in answer)) return assert.fail(`${name}: ${answer._tag}`)
      this.note(name, mode, answer)
    }.bind(this)
  )

  /** Stores an input for an owner who cannot be reached: the sweep delivers it. Twice is once. */
  post(name: string) {
    const request = { type: "submit", input: this.input(name, "queue", "") } satisfies ThreadRequest
    const { inputId } = request.input
    this.inputs.set(name, inputId)
    this.accepted.push({ inputId, mode: "queue" })
    return Effect.sync(() => {
      const actor = this.ref ?? assert.fail("no thread yet")
      for (let i = 0; i < 2; i++)
        this.world.store.inbox.set(actor.workspace + inputId, { id: inputId, actor, command: JSON.stringify(request) })
    })
  }

  /** Sends all at once: whichever comes first is first. */
  readonly sendTogether = Effect.fnUntraced(
    function* (this: Client, ...names: ReadonlyArray<string>) {
      yield* Effect.forEach(names, (name) => this.send(name), { concurrency: "unbounded", discard: true })
      for (const name of names) this.unordered.add(this.inputs.get(name) ?? assert.fail(name))
    }.bind(this)
  )

  readonly retry = Effect.fnUntraced(
    function* (this: Client) {
      const answer = yield* this.request(() => ({ type: "retry", inputId: freshId("input"), principal: ann }))
      if (!("kind" in answer)) return assert.fail(`retry: ${answer._tag}`)
      this.note(`retry ${this.keys}`, "queue", answer)
    }.bind(this)
  )

  /** Retries where there is something to retry. */
  readonly retryIfAny = Effect.fnUntraced(
    function* (this: Client) {
      const answer = yield* this.request(() => ({ type: "retry", inputId: freshId("input"), principal: ann }))
      if ("kind" in answer) this.note(`retry ${this.keys}`, "queue", answer)
    }.bind(this)
  )

  cancel(clearQueue = false) {
    return Effect.map(
      this.request(() => ({ type: "cancel", principal: ann, clearQueue })),
      (answer) => {
        assert.property(answer, "kind")
        if (clearQueue) for (const { inputId } of this.accepted) this.gone.add(inputId)
      }
    )
  }

  /** A summary is to come before the next model call. */
  compact() {
    return Effect.asVoid(this.request(() => ({ type: "compact" })))
  }

  promote(name: string, mode: "steer" | "interrupt") {
    const inputId = this.inputs.get(name) ?? assert.fail(name)
    return Effect.map(
      this.request(() => ({ type: "promote", inputId, mode, principal: ann })),
      (answer) => {
        this.unordered.add(inputId)
        // It may have run meanwhile: then it was refused.
        if ("kind" in answer && (JSON.parse(answer.body) as Told).state === "steered")
          this.joins.set(inputId, (JSON.parse(answer.body) as Told).turnId)
      }
    )
  }

  edit(name: string, text: string) {
    const inputId = this.inputs.get(name) ?? assert.fail(name)
    return Effect.asVoid(this.request(() => ({ type: "edit", inputId, content: [{ type: "text", text }] })))
  }

  /** Its answer may get lost: then the second one says "not pending", and the input is gone or admitted. */
  remove(name: string) {
    const inputId = this.inputs.get(name) ?? assert.fail(name)
    return Effect.map(
      this.request(() => ({ type: "remove", inputId })),
      () => {
        this.gone.add(inputId)
      }
    )
  }

  /** The open waits, as stored: also of a thread that does not live anywhere now. */
  get waits(): ReadonlyArray<OpenWait> {
    const stored = this.ref === undefined ? undefined : asStored(this.world, this.ref)
    return stored === undefined ? [] : openWaits(this.node.kind.load(stored).context.turn).map(({ wait }) => wait)
  }

  /** Time goes on until it holds of the world. */
  readonly until = Effect.fnUntraced(
    function* (this: Client, holds: (world: World) => boolean) {
      for (let i = 0; !holds(this.world); i++) {
        if (i > 200) assert.fail("it does not come to hold")
        yield* this.pass(50)
      }
    }.bind(this)
  )

  /** Time goes on until so many waits are open. */
  readonly untilWaiting = Effect.fnUntraced(
    function* (this: Client, count = 1) {
      for (let i = 0; this.waits.length < count; i++) {
        if (i > 200) assert.fail(`there are ${this.waits.length} open waits, not ${count}`)
        yield* this.pass(250)
      }
    }.bind(this)
  )

  /** Answers an open wait, if there is one, as fits it or as told. */
  readonly answer = Effect.fnUntraced(
    function* (this: Client, answer?: GivenAnswer, place = 0) {
      const wait = this.waits[place]
      if (wait === undefined) return
      const fitting: GivenAnswer =
        wait.type === "client_tool"
          ? { type: "tool_result", output: { answer: 42 } }
          : { type: "decision", decision: "allow" }
      yield* this.request(() => ({ type: "answer", waitId: wait.waitId, principal: ann, answer: answer ?? fitting }))
    }.bind(this)
  )

  /** Answers as soon as so many waits are open. */
  readonly answers = Effect.fnUntraced(
    function* (this: Client, answer?: GivenAnswer, place = 0, count = 1) {
      yield* this.untilWaiting(count)
      yield* this.answer(answer, place)
    }.bind(this)
  )

  /** Time goes on; a node that dies meanwhile is replaced. */
  readonly pass = Effect.fnUntraced(
    function* (this: Client, ms: number) {
      for (let left = ms; left > 0; left -= 250) {
        yield* pass(Math.min(left, 250))
        if (this.node.isDead()) yield* this.recover(this.node)
      }
    }.bind(this)
  )

  readonly rest = Effect.fnUntraced(
    function* (this: Client) {
      const ref = this.ref ?? assert.fail("no thread")
      for (;;) {
        yield* settle
        const { node } = this
        yield* toRest(this.world, node, ref)
        if (node.isDead()) yield* this.recover(node)
        else if (this.leaving > 0) yield* pass(250)
        else if (this.node === node) return
      }
    }.bind(this)
  )

  /** The whole log as stored, after everything that must hold was held. */
  readonly check = Effect.fnUntraced(
    function* (this: Client) {
      const ref = this.ref ?? assert.fail("no thread")
      const live = this.node.registry.peek(ref.id) ?? assert.fail("the thread is not live")
      yield* this.node.kill
      const loaded = yield* coldClaim(this.world, ref)
      const facts = this.world.store.actors.get(keyOf(ref))?.facts ?? []
      const log: ReadonlyArray<Recorded> = facts.map(recorded)
      const admitted = new Set(log.map(({ event }) => event.inputId))
      assert.deepStrictEqual(violations(log), [])
      assert.deepStrictEqual(openTurns(log), [])
      assert.deepStrictEqual(
        unaccounted(log, {
          accepted: this.accepted,
          unordered: this.unordered,
          joins: this.joins,
          pending: loaded.inputs.map(({ id }) => id),
          removed: new Set([...this.gone].filter((inputId) => !admitted.has(inputId)))
        }),
        []
      )
      assert.deepStrictEqual(plainSnapshot(this.node.kind.load(loaded)), plainSnapshot(live))
      const { carry, pos, runnableAt, seq, since } = loaded.head
      assert.deepStrictEqual(
        { pos, runnableAt, seq, since },
        { pos: log.length, runnableAt: null, seq: log.filter((fact) => fact.public).length, since: null }
      )
      assert.deepStrictEqual(carryIn(carry), JSON.parse(JSON.stringify(foldCarry(facts.map(factOf)))))
      const waits = [...(this.world.store.actors.get(keyOf(ref))?.waits.values() ?? [])]
      assert.deepStrictEqual(
        waits.filter(({ state }) => state === "open"),
        []
      )
      assert.strictEqual(this.world.store.inbox.size, 0)
      assert.deepStrictEqual(this.world.complaints, [])
      return log
    }.bind(this)
  )
}
