/**
 * Exploration: random commands to random owners of one thread, who die, lose their
 * lease without knowing, lose connections to the journal and to each other, and leave memory, at random moments; hooks
 * judge its turns, and what waits is answered at random, or not. After every command what is stored folds to what is
 * live; in the end the journal's invariants hold.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import type { Hook } from "../../src/domain/hook.ts"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import type { OpenWait } from "../../machines/thread/context.ts"
import { plainSnapshot } from "../../machines/thread/fold.ts"
import { Client } from "./Client.ts"
import { hook, rewrites } from "./Toolbox.ts"
import { asStored, type Node, startNode } from "./Node.ts"
import { connect, type Wire } from "./Wire.ts"
import { makeWorld, pass, plan, settle, type World } from "./World.ts"

const runs = Number(process.env.TROUPE_EXPLORATIONS ?? 150)

interface Move {
  readonly what:
    | "queue"
    | "steer"
    | "interrupt"
    | "edit"
    | "remove"
    | "promote"
    | "cancel"
    | "retry"
    | "answer"
    | "two"
    | "pass"
    | "fault"
    | "wire"
    | "usurp"
    | "replace"
  readonly a: number
  readonly b: number
}

const weights: Readonly<Record<Move["what"], number>> = {
  queue: 8,
  steer: 6,
  interrupt: 3,
  edit: 2,
  remove: 2,
  promote: 4,
  cancel: 2,
  retry: 2,
  answer: 10,
  two: 4,
  pass: 18,
  fault: 8,
  wire: 4,
  usurp: 4,
  replace: 3
}
const move: fc.Arbitrary<Move> = fc.record({
  what: fc.oneof(
    ...Object.entries(weights).map(([what, weight]) => ({ weight, arbitrary: fc.constant(what as Move["what"]) }))
  ),
  a: fc.nat({ max: 1_000 }),
  b: fc.nat({ max: 1_000 })
})

const scripts = [
  "",
  "",
  "/wait 2s",
  "/wait 700ms",
  "/call nope {}",
  "/call often {}\n/call once {}\n/call often {}",
  "/call ask {}\n/call often {}",
  "/call ask {}",
  '/call risky {}\n/call often {"n":1}',
  "/call risky {}",
  '/call forbidden {}\n/call often {}\n/then\n/call often {"n":1}',
  "/fail model_error no",
  "/fail model_overloaded busy",
  "/fail@troupe/scripted model_unavailable gone",
  "/call once {}\n/then\n/wait 1s"
]

const soon = { asyncTimeoutMs: 4_000 }
const client = { processor: { type: "client" as const } }
const one = { match: { conditions: [{ path: "/n", op: "eq" as const, value: 1 }] } }
/** Who judges the thread's turns. */
const judges: ReadonlyArray<ReadonlyArray<Hook>> = [
  [],
  [
    hook("allow", "before_tool_call"),
    hook("ask", "before_tool_call", { ...soon, onTimeout: "allow" }),
    hook("allow rewrite", "after_tool_result")
  ],
  [
    hook("ask", "before_turn_start", { ...client, ...soon, onTimeout: "allow" }),
    hook("defer", "before_turn_start"),
    hook("ask rewrite", "after_tool_result", soon)
  ],
  [
    hook("allow rewrite", "before_tool_call"),
    hook("ask", "after_model_response", { ...soon, onTimeout: "allow" }),
    hook("ask", "before_tool_call", { ...client, match: { tools: ["once", "risky"] } })
  ],
  [
    hook("deny", "before_tool_call", one),
    hook("ask failed", "after_tool_result", { ...soon, onTimeout: "fail" }),
    hook("deny failed", "after_model_response", {
      match: { conditions: [{ path: "/content/0/text", op: "startsWith", value: "Done" }] }
    })
  ],
  [
    hook("allow", "before_turn_start"),
    hook("allow", "after_model_response"),
    hook("ask", "before_tool_call", client),
    hook("defer", "after_tool_result")
  ]
]

const answersTo = ({ hook, type }: OpenWait, n: number): GivenAnswer => {
  if (type === "client_tool")
    return n % 3 === 0
      ? { type: "tool_result", error: { code: "no", message: "no" } }
      : { type: "tool_result", output: n }
  const allow = { type: "decision", decision: "allow" } as const
  return pick<GivenAnswer>(
    [
      allow,
      allow,
      { ...allow, scope: "thread" },
      { ...allow, rewrite: rewrites[hook?.point ?? "before_tool_call"] },
      { type: "decision", decision: "deny" },
      // Not what is asked: refused.
      { type: "tool_result", output: n }
    ],
    n
  )
}

const faults = ["crash before", "crash after", "lost before", "lost after", "unavailable"] as const
const pick = <T>(list: ReadonlyArray<T>, n: number): T => list[n % list.length] ?? assert.fail("an empty list")

/** A client of several nodes at once. */
class Explorer extends Client {
  readonly nodes: Array<Node> = []
  private count = 0
  private turn = 0
  /** Has no lease any more, and will know it as soon as it looks at the clock. */
  private unaware: Node | undefined
  private readonly planned = new Map<number, (typeof faults)[number]>()
  private readonly idleMs: number
  private readonly wire: Wire | undefined

  constructor(world: World, idleMs: number, wire: Wire | undefined) {
    super(world)
    this.idleMs = idleMs
    this.wire = wire
    world.store.fault = (commit) => this.planned.get(commit)
  }

  readonly add = Effect.fnUntraced(
    function* (this: Explorer) {
      this.nodes.push(yield* startNode(this.world, () => this.ref, this.idleMs))
    }.bind(this)
  )

  /** The process is gone; another one takes its place. */
  private readonly replace = Effect.fnUntraced(
    function* (this: Explorer, node: Node) {
      const at = this.nodes.indexOf(node)
      if (at < 0) return
      this.nodes.splice(at, 1)
      yield* node.kill
      yield* this.add()
    }.bind(this)
  )

  protected override readonly ask: Client["ask"] = Effect.fnUntraced(
    function* (this: Explorer, made: Parameters<Client["ask"]>[0]) {
      for (let tries = 0; tries < 100; tries++) {
        const node = pick(this.nodes, this.turn++)
        const asked = yield* Effect.forkChild(Effect.result(node.ask(made(node))))
        yield* settle
        // One that is asked over the wire, and has died over it, is waited for.
        while (asked.pollUnsafe() === undefined) yield* pass(500)
        const answer = yield* Fiber.join(asked)
        yield* settle
        if (Result.isSuccess(answer) && answer.success !== "died") return answer.success
        if (Result.isSuccess(answer) || node.isDead()) yield* this.replace(node)
        else if (answer.failure._tag !== "Unreachable") return answer.failure
        else if (this.world.fenced.has(node.incarnation) && tries % 5 === 4) yield* this.replace(node)
        else yield* pass(300)
      }
      return assert.fail("nobody answers")
    }.bind(this)
  )

  private realise() {
    if (this.unaware !== undefined) this.world.fenced.add(this.unaware.incarnation)
  }

  private put(mode: "queue" | "steer" | "interrupt", n: number) {
    return this.send(`m${++this.count}`, mode, pick(scripts, n))
  }

  private readonly answerSome = Effect.fnUntraced(
    function* (this: Explorer, a: number, b: number) {
      const { waits } = this
      if (waits.length > 0) yield* this.answer(answersTo(pick(waits, a), b), a % waits.length)
    }.bind(this)
  )

  readonly take = Effect.fnUntraced(
    function* (this: Explorer, { a, b, what }: Move) {
      const names = [...this.inputs.keys()].slice(-4)
      this.turn += a
      switch (what) {
        case "queue":
        case "steer":
        case "interrupt":
          return yield* this.put(what, b)
        case "edit":
          return yield* names.length === 0 ? Effect.void : this.edit(pick(names, b), `edited ${b}`)
        case "remove":
          return yield* names.length === 0 ? Effect.void : this.remove(pick(names, b))
        case "promote":
          return yield* names.length === 0
            ? Effect.void
            : this.promote(pick(names, b), a % 2 === 0 ? "steer" : "interrupt")
        case "cancel":
          return yield* this.cancel(b % 3 === 0)
        case "retry":
          return yield* this.retryIfAny()
        case "answer":
          this.node = pick(this.nodes, a)
          return yield* this.answerSome(a, b)
        case "two": {
          const names = [`m${++this.count}`, `m${++this.count}`]
          return yield* this.sendTogether(...names)
        }
        case "pass":
          this.realise()
          return yield* pass(a % 5 === 0 ? 3_000 : b % 600)
        case "fault":
          this.planned.set(this.world.store.commits + 1 + (a % 3), pick(faults, b))
          return
        case "wire":
          if (this.wire === undefined) return
          if (a % 2 === 0) this.wire.fate = "unanswered"
          else {
            const { incarnation } = pick(this.nodes, b)
            if (!this.wire.cut.delete(incarnation)) this.wire.cut.add(incarnation)
          }
          return
        case "usurp":
          this.realise()
          this.unaware = pick(this.nodes, a)
          return this.world.store.lapse(this.unaware.incarnation)
        case "replace":
          return yield* this.replace(pick(this.nodes, a))
      }
    }.bind(this)
  )

  /** F1, on the owner: what is stored is what is live, once all that needs no time has run. */
  readonly compare = Effect.fnUntraced(
    function* (this: Explorer) {
      for (let before = -1; before !== this.world.store.commits; ) {
        before = this.world.store.commits
        yield* settle
      }
      const { ref } = this
      if (ref === undefined) return
      const owner = this.nodes.find(({ incarnation }) => this.world.store.actors.get(keyOf(ref))?.owner === incarnation)
      const live = owner?.registry.peek(ref.id)
      const stored = asStored(this.world, ref)
      if (owner !== undefined && !owner.isDead() && live !== undefined && stored !== undefined) {
        assert.deepStrictEqual(
          plainSnapshot(owner.kind.load(stored)),
          plainSnapshot(live),
          "what is stored folds to what is live"
        )
      }
    }.bind(this)
  )

  private get busy() {
    return this.ref !== undefined && asStored(this.world, this.ref)?.head.since !== null
  }

  /** One fresh node is left, and finishes what there is. */
  readonly conclude = Effect.fnUntraced(
    function* (this: Explorer) {
      this.planned.clear()
      for (const node of this.nodes.splice(0)) yield* node.kill
      yield* this.start()
      this.nodes.push(this.node)
      yield* pass(1_000)
      // A role's approval is waited for longer than anybody looks.
      for (let i = 0; i < 200 && this.busy; i++) {
        yield* this.answer()
        yield* pass(1_000)
      }
      yield* this.rest()
      return yield* this.check()
    }.bind(this)
  )
}

it("random commands to random owners that fail at random leave a journal that holds", async () => {
  let moves = 0
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(move, { minLength: 1, maxLength: 30, size: "max" }),
      fc.constantFrom(0, 3_600_000),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(...judges),
      fc.boolean(),
      (way, idleMs, owners, maxSteps, hooks, connected) =>
        Effect.gen(function* () {
          const world = makeWorld()
          const wire = connected ? yield* connect(world) : undefined
          world.plan = { ...plan, models: ["troupe/scripted", "troupe/scripted-paid"], maxSteps, maxTurnMs: 20_000 }
          world.hooks = hooks
          const explorer = new Explorer(world, idleMs, wire)
          for (let i = 0; i < owners; i++) yield* explorer.add()
          yield* explorer.create()
          for (const move of way) {
            yield* explorer.take(move)
            yield* explorer.compare()
            moves++
          }
          for (const { type } of yield* explorer.conclude()) seen.set(type, (seen.get(type) ?? 0) + 1)
        }).pipe(Effect.provide(Layer.fresh(TestClock.layer())), Effect.runPromise)
    ),
    // A way takes some 20 ms: one that hangs is a finding too.
    { numRuns: runs, timeout: 10_000 }
  )
  const all = [...seen.values()].reduce((sum, n) => sum + n, 0)
  console.log(
    `explored: ${runs} ways of ${moves} moves, ${all} facts, ${seen.get("hook_decision")} decisions of hooks, ${seen.get("wait_resolved")} waits`
  )
  assert.includeMembers(
    [...seen.keys()],
    [
      "hook_decision",
      "wait_created",
      "wait_resolved",
      "tool_result",
      "response_received",
      "result_received",
      "call_started"
    ]
  )
}, 300_000)
