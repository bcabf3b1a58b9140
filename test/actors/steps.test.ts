/**
 * Steps of real actors: however commands fall together into appends, and whoever has the actor, its log falls into what
 * each command did. What the live actor was before and after each command is the measure.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { leafOf } from "../../machines/inspected.ts"
import { beginningAt, makeWalk, type LoggedStep } from "../../machines/steps.ts"
import type { Command } from "../../machines/thread/commands.ts"
import { chart, type Snapshot } from "../../machines/thread/chart.ts"
import { threadInspected } from "../../actors/thread/inspected.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { collapsed, livePath } from "../machines/stepChecks.ts"
import { type Node, startNode, toRest } from "./Node.ts"
import { makeWorld, pass, settle, type World } from "./World.ts"
import { ann, create, submit } from "./threads.ts"

type Way = Pick<LoggedStep, "cause" | "from" | "path" | "to">

/** What each command did of which facts were written, seen where it is decided. */
const watched = (node: Node, live: Array<Way>) => {
  const { kind } = node
  const { decide } = kind
  const seen: Node["kind"]["decide"] = (being, prepared) => {
    const decision = decide(being, prepared)
    const { command } = prepared
    if ("written" in decision && decision.written !== undefined && decision.written.facts.length > 0 && command)
      live.push(wayOf(being.snapshot, command, decision.next))
    return decision
  }
  Object.assign(kind, { decide: seen })
}

const wayOf = (before: Snapshot, command: Command, next: Snapshot): Way => ({
  cause: command.type,
  from: leafOf(before),
  to: leafOf(next),
  path: livePath(chart, before, command)
})

const stepsOf = ({ store }: World, ref: ActorRef): ReadonlyArray<Way> => {
  const facts = store.actors.get(keyOf(ref))?.facts ?? assert.fail("no such actor")
  const walk = makeWalk(threadInspected, beginningAt(threadInspected, { pos: 0, seq: 0, before: undefined }))
  const found: Array<LoggedStep> = []
  for (const fact of facts) {
    const written = { ...fact, cause: fact.cause ?? null }
    const step = walk.before(written)
    if (step !== undefined) found.push(step)
    walk.tell(written)
  }
  found.push(walk.end() ?? assert.fail("a log without a step"))
  return found.map(({ cause, from, path, to }) => ({ cause, from, to, path: collapsed(from, path) }))
}

describe("the steps of a thread", () => {
  it.effect("are those of its commands, also of several in one append, and of a second host after a cold load", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const [a, b] = [yield* startNode(world, () => undefined), yield* startNode(world, () => undefined)]
      const live: Array<Way> = []
      watched(a, live)
      watched(b, live)
      yield* settle
      const ref = yield* create(a)
      const commits = world.store.commits
      // Two calls whose outcomes are one append; then what gathers in the mailbox: one turn ends, another begins.
      yield* a.deliver(ref, { request: submit("A\n/call often {}\n/call often {}") })
      yield* toRest(world, a, ref)
      const cancel: ThreadRequest = { type: "cancel", principal: ann, clearQueue: false }
      yield* Effect.forEach(
        [submit("B\n/wait 30s"), submit("C\n/wait 30s"), cancel, submit("D\n/wait 3s"), cancel],
        (request) => a.deliver(ref, { request }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(stepsOf(world, ref), live)
      assert.isBelow(world.store.commits - commits, live.length, "several commands were one append")
      // On another host, from the journal alone; rows of its inbox are decided together as well.
      const before = live.length
      yield* a.kill
      for (const request of [submit("E"), submit("F\n/wait 30s")])
        yield* b.journal.post({
          id: request.input.inputId,
          actor: ref,
          command: JSON.stringify({ ...request, acknowledged: true })
        })
      yield* pass(1_500)
      yield* b.deliver(ref, { request: cancel })
      yield* toRest(world, b, ref)
      assert.isAbove(live.length, before)
      assert.deepStrictEqual(stepsOf(world, ref), live)
    })
  )
})
