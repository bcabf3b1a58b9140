/** I1 to I3 of src/bus/interest.ts, with messages carried by hand. */
import { assert, describe, it } from "@effect/vitest"
import { makeInterest } from "../../src/bus/interest.ts"
import type { Presence } from "../../src/bus/wire.ts"
import { idOf } from "./world.ts"

const about = (n: number) => ({ workspace: idOf("wsp_", 1), agentId: idOf("agt_", n), threadId: idOf("thr_", n) })
const topic = (n: number) => `${about(n).workspace}/${about(n).threadId}`

/** Two nodes; what one says the other hears, unless the line is cut. */
const pair = (most?: number) => {
  const line = { cut: false, messages: [] as Presence[] }
  const carry = (to: () => ReturnType<typeof makeInterest>) => (message: Presence) => {
    line.messages.push(message)
    if (!line.cut) to().heard(message)
  }
  const here = makeInterest(
    carry(() => there),
    most
  )
  const there: ReturnType<typeof makeInterest> = makeInterest(
    carry(() => here),
    most
  )
  return { here, there, line }
}

describe("interest", () => {
  it("is known at once, and for as long as it is said again", () => {
    const { here, there } = pair()
    assert.isFalse(here.wanted(about(1)))
    const end = there.want(topic(1))
    assert.isTrue(here.wanted(about(1)))
    assert.isFalse(here.wanted(about(2)))
    for (let i = 0; i < 10; i++) {
      here.round()
      there.round()
      assert.isTrue(here.wanted(about(1)))
    }
    end()
    for (let i = 0; i < 3; i++) {
      here.round()
      there.round()
    }
    assert.isFalse(here.wanted(about(1)))
  })

  it("holds for a workspace and an agent as for a thread", () => {
    const { here, there } = pair()
    there.want(`${about(1).workspace}/${about(1).agentId}`)
    assert.deepStrictEqual([here.wanted(about(1)), here.wanted(about(2))], [true, false])
    there.want(about(1).workspace)
    assert.isTrue(here.wanted(about(2)))
  })

  it("is said once for many who share it, and ends with the last", () => {
    const { here, line, there } = pair()
    const ends = [there.want(topic(1)), there.want(topic(1)), there.want(topic(1))]
    assert.strictEqual(line.messages.length, 1)
    ends[0]!()
    ends[1]!()
    there.round()
    assert.deepStrictEqual(line.messages.at(-1), { deltas: [topic(1)] })
    ends[2]!()
    there.round()
    assert.deepStrictEqual(line.messages.at(-1), { deltas: [] })
    assert.isTrue(here.wanted(about(1)))
  })

  it("is told whole to whoever asks", () => {
    const { here, line, there } = pair()
    line.cut = true
    for (let n = 0; n < 1_200; n++) there.want(topic(n))
    line.cut = false
    line.messages.length = 0
    there.heard({ deltas: [], ask: true })
    assert.deepStrictEqual(
      line.messages.map(({ deltas }) => deltas.length),
      [500, 500, 200]
    )
    assert.isTrue(here.wanted(about(1_199)))
  })

  it("of a node that was stopped is kept through its neighbours' rounds twice, and of one that is gone not for long", () => {
    const { here, there } = pair()
    there.want(topic(1))
    here.round()
    here.round()
    assert.isTrue(here.wanted(about(1)))
    here.round()
    assert.isFalse(here.wanted(about(1)))
  })

  it("is everything where there is too much to remember", () => {
    const { here, there } = pair(3)
    for (let n = 1; n <= 3; n++) there.want(topic(n))
    assert.isFalse(here.wanted(about(9)))
    there.want(topic(4))
    assert.isTrue(here.wanted(about(9)))
  })

  it("knows that it is alone once it has listened for long enough, and that it is not at the first word", () => {
    const lonely = makeInterest(() => {})
    assert.isTrue(lonely.accompanied())
    for (let i = 0; i < 3; i++) lonely.round()
    assert.isFalse(lonely.accompanied())
    lonely.heard({ deltas: [] })
    assert.isTrue(lonely.accompanied())
  })
})
