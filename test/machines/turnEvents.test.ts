/** The numbers of a turn's events at their worst. */
import { assert, describe, it } from "@effect/vitest"
import type { Command } from "../../machines/thread/commands.ts"
import { half, responseFits } from "../../src/domain/turnNumbers.ts"
import { openWaits, roomForResponse } from "../../machines/thread/context.ts"
import { decide } from "../../machines/thread/decide.ts"
import { fold, plainSnapshot } from "../../machines/thread/fold.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import { violations } from "../invariants.ts"
import { Walk } from "./Walk.ts"
import { call, clientCall, plan, turnOf } from "./WalkCommands.ts"

/** A walk of thousands of commands: held to the invariants when it is over. */
class LongWalk extends Walk {
  override tell(command: Command) {
    const refusal = refuse(this.snapshot, command)
    if (refusal !== undefined) return refusal
    const step = decide(this.snapshot, command)
    this.snapshot = step.next
    this.steps.push(step)
    this.log.push(...step.facts)
    return undefined
  }

  /** The highest number of an event that is no response's text. */
  conclude() {
    assert.deepStrictEqual(violations(this.recorded), [])
    const { carry, pending } = this.context
    assert.deepStrictEqual(
      plainSnapshot(fold({ carry, pending, facts: this.log, pos: 0, seq: 0 })),
      plainSnapshot(this.snapshot)
    )
    return Math.max(...this.log.filter(({ type }) => type !== "assistant_message").map(({ n }) => n))
  }

  /** Calls of one result each until the turn has so many events. */
  filledTo(events: number) {
    while (this.turn.events < events - 1) this.reply("", call()).returns()
    return this
  }

  /** Everything that can be asked is asked, and allowed with another input, at the greatest length. */
  askedAndAnswered() {
    while (this.context.turn !== null && (this.asked.length > 0 || openWaits(this.turn).length > 0)) {
      // While one is asked, the others that are answered find no place.
      if (this.asked.length > 0 && openWaits(this.turn).length === 0) this.decides("ask")
      else this.answerRewriting()
    }
    return this
  }

  /**
   * What the first hook asks about is put in other words, which the hooks behind it judge, and the role is asked about
   * anew.
   */
  private answerRewriting() {
    const hook = openWaits(this.turn)[0]?.wait.hook
    if (hook?.point !== "before_tool_call") return this.answer()
    const later = Array.from({ length: 15 - hook.index }, (_, i) => hook.index + 1 + i)
    return this.answer(0, { type: "decision", decision: "allow", rewrite: { toolInput: { by: hook.index } } }, later)
  }
}

describe("events of a turn", () => {
  const hooked = { ...plan, hooked: true as const, maxSteps: 10_000, maxParallelTools: 1 }
  const sixteen = Array.from({ length: 16 }, (_, index) => index)
  /** The most that a turn may hold and still begin a response. */
  const mostBefore = ({ turn }: Walk) => {
    let events = 0
    while (roomForResponse({ ...turn, events: events + 1 })) events++
    return events
  }

  it("never run into the numbers of its responses: 128 calls that wait for a role, sixteen hooks and the client", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk))
    walk.reply(
      "",
      ...Array.from({ length: 128 }, () => clientCall("x", 1_000, { approval: "role_1/0", hooks: sixteen }))
    )
    walk.askedAndAnswered()
    assert.match(walk.text, /turn_failed\(A: step_limit\)$/)
    const highest = walk.conclude()
    assert.isBelow(highest, half)
    assert.isAbove(highest, 15_000, "it is the worst that can be")
  })

  it("nor when a person rewrites one call for ever: the turn ends while its end has its numbers", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk))
    walk.reply("", ...Array.from({ length: 128 }, () => call("x", { approval: "role_1/0", hooks: [0] })))
    for (let i = 0; i < 20_000 && walk.context.turn !== null; i++) {
      if (walk.asked.length > 0 && openWaits(walk.turn).length === 0) walk.decides("ask")
      else
        walk.answer(
          0,
          { type: "decision", decision: "allow", rewrite: { toolInput: i } },
          openWaits(walk.turn)[0]?.wait.hook === undefined ? [0] : []
        )
    }
    assert.match(walk.text, /turn_failed\(A: step_limit\)$/)
    assert.isBelow(walk.conclude(), half)
  })

  it("leave room for one more response as long as all that it may begin has numbers", () => {
    for (const [hooked, most] of [
      [true, 2_484],
      [false, 14_948]
    ] as const) {
      assert.deepStrictEqual(
        [most, most + 1].map((events) => responseFits({ events, judged: 0, models: 1, hooked })),
        [true, false]
      )
    }
  })

  it("nor when a hundred steers, and another hundred as soon as there is room for them, are judged by sixteen hooks that ask", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk) - 2_000)
    walk.openings = sixteen
    let steers = 0
    const more = () => {
      while (steers < 400 && walk.context.pending.length < 100) walk.steer(`s${++steers}`)
    }
    more()
    walk.reply()
    const { turnId } = walk.turn
    while (walk.context.turn?.turnId === turnId) {
      if (walk.asked.length > 0) walk.decides("ask")
      else if (walk.status === "awaiting") {
        more()
        walk.answer()
      } else walk.reply()
    }
    const highest = walk.conclude()
    assert.isBelow(highest, half)
    assert.isAbove(steers, 100)
    assert.notStrictEqual(walk.turn.turnId, turnOf("A"), "those that found no room run as turns of their own")
    assert.include(walk.text, "user(s2, in A)")
  })
})
