/**
 * Questions from node to node: this node's, to those that have an actor, and those of others, to the
 * actors here.
 *
 * Q1. A question is taken only by the incarnation that it names, while that has its lease, and while
 *     somebody still waits for the answer.
 * Q2. Whatever arrives and is no question is refused, counted, and logged once.
 * Q3. A new life of this node answers under its new name, and the old name falls silent.
 */
import { Context, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { Bus } from "../src/bus/Bus.ts"
import type { NoAnswer } from "../src/bus/hints.ts"
import { isIdOf } from "../src/domain/ids.ts"
import type { ActorKind, KindNouns } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { questionsRefused, record } from "../src/telemetry/metrics.ts"
import { type NodeQuestion, readQuestion, readReply, type NodeReply, type Unwilling } from "./messages.ts"

/** How long a node waits for another one's answer. */
export const patienceMs = 2_000
/** The same for what can be stored instead: with the second that a sweep takes at most, it runs within two. */
export const storablePatienceMs = 800

/** What an answer takes at most on its way: a question is not begun so shortly before its end. */
const wayBackMs = 100

/** A command that was sent longer ago than this may have come a second way meanwhile. */
const oldMs = 500

export class Router extends Context.Service<
  Router,
  {
    /** Asks a node about one of its actors, and waits so long. A reply that cannot be read counts as none. */
    readonly ask: (
      question: Omit<NodeQuestion, "v" | "until">,
      waitMs: number
    ) => Effect.Effect<NodeReply | undefined, NoAnswer>
    /** Answers for the actors of a kind that live here. */
    readonly answer: (
      kind: { readonly name: ActorKind; readonly nouns: KindNouns },
      answer: (question: NodeQuestion) => Effect.Effect<NodeReply>
    ) => void
  }
>()("troupe/Router") {
  static readonly layer = Layer.effect(
    Router,
    Effect.gen(function* () {
      const bus = yield* Bus
      const lease = yield* Lease
      const answers = new Map<
        ActorKind,
        {
          readonly isId: (text: string) => boolean
          readonly answer: (question: NodeQuestion) => Effect.Effect<NodeReply>
        }
      >()
      let warned = false

      const unwilling = (why: Unwilling) => {
        record(questionsRefused.with({ why }))
        const reply: NodeReply = { v: 1, unwilling: why }
        return Effect.succeed(reply)
      }

      const misunderstood = () => {
        const first = !warned
        warned = true
        return Effect.andThen(
          first
            ? Effect.logWarning("a question of another node was not understood; more of the kind are only counted")
            : Effect.void,
          unwilling("malformed")
        )
      }

      const take = (message: string): Effect.Effect<NodeReply> => {
        const read = readQuestion(message)
        if (Option.isNone(read)) return misunderstood()
        const question = read.value
        if (question.to !== lease.incarnation()) return unwilling("stranger")
        if (lease.fenced()) return unwilling("fenced")
        const now = lease.now()
        if (now > question.until - wayBackMs) return unwilling("late")
        // This node starts: its kinds are not there yet.
        if (answers.size === 0) return unwilling("stranger")
        const kind = answers.get(question.kind)
        if (kind?.isId(question.id) !== true) return misunderstood()
        return kind.answer(now - question.at > oldMs ? { ...question, again: true } : question)
      }

      let life: Scope.Closeable | undefined
      const live = Effect.fnUntraced(function* (incarnation: string) {
        if (life !== undefined) yield* Scope.close(life, Exit.void)
        life = yield* Scope.make()
        yield* Scope.provide(
          bus.serve(incarnation, (message) =>
            Effect.map(
              Effect.suspend(() => take(message)),
              (reply) => JSON.stringify(reply)
            )
          ),
          life
        )
      })
      yield* Effect.addFinalizer((exit) => (life === undefined ? Effect.void : Scope.close(life, exit)))
      yield* live(lease.incarnation())
      yield* lease.rejoined.pipe(Stream.runForEach(live), Effect.forkScoped({ startImmediately: true }))

      return Router.of({
        ask: (question, waitMs) =>
          Effect.map(
            bus.request(question.to, JSON.stringify({ v: 1, until: lease.now() + waitMs, ...question }), waitMs),
            readReply
          ),
        answer: ({ name, nouns }, answer) => {
          answers.set(name, { isId: isIdOf(nouns.id), answer })
        }
      })
    })
  )
}
