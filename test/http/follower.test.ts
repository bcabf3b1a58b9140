/** What a watcher of a thread is told, from hints and pages alone: no bus, no database, no socket. */
import { assert, describe, it } from "@effect/vitest"
import { Follower } from "../../http/streams/Follower.ts"
import type { QueuedFrame } from "../../http/streams/frames.ts"
import { wanted } from "../../http/streams/wanted.ts"
import type { News } from "../../src/bus/hints.ts"

const threadId = "thr_01m824srmge008y7mrqh5wg000"
const about = { workspace: "wsp_a", agentId: "agt_a", threadId }

/** Takes as many frames as it has places. */
class Shelf {
  readonly taken: Array<string> = []
  places = Infinity
  awaits = false
  get hasRoom() {
    return this.places > 0
  }
  offer({ text }: QueuedFrame) {
    if (this.places === 0) return false
    this.places--
    this.taken.push(text)
    return true
  }
  awaitRoom() {
    this.awaits = true
  }
}

const eventText = (seq: number) => JSON.stringify({ seq })
const events = (...seqs: ReadonlyArray<number>): Exclude<News, { type: "look" | "moved" }> => ({
  type: "events",
  events: seqs.map((seq) => ({ seq, turnId: "trn_a", type: "note", text: eventText(seq) }))
})
const statusNow = (status: "idle" | "running", lastSeq: number): Exclude<News, { type: "look" | "moved" }> => ({
  type: "status",
  status,
  lastSeq
})

const opened = (log: number, options: { readonly after?: number; readonly types?: string } = {}) => {
  const shelf = new Shelf()
  const follower = new Follower(
    { threadId, wanted: wanted({ types: options.types, deltas: "text" }, "one"), after: options.after },
    shelf
  )
  const world = {
    shelf,
    follower,
    log,
    hear: (news: Exclude<News, { type: "look" | "moved" }>) => follower.hear({ ...about, ...news }),
    /** Reads the log until there is nothing to do but wait; how often it was read. */
    catchUp: (pageRows = 100) => {
      let reads = 0
      while (follower.isBehind && follower.step() === "read") {
        reads++
        const first = follower.passed + 1
        const last = Math.min(world.log, follower.passed + pageRows)
        const texts = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => eventText(first + i))
        follower.read({ events: texts, seq: last, lastSeq: world.log })
      }
      return reads
    },
    /** What was told since it was asked last, in short. */
    told: () =>
      shelf.taken.splice(0).map((text) => {
        const [, id] = /^id: (\d+)$/m.exec(text) ?? []
        const [, event] = /^event: (\w+)$/m.exec(text) ?? []
        const data = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "{}")
        if (id !== undefined) return id
        return event === "gap"
          ? `gap ${data.fromSeq}-${data.toSeq}`
          : event === "status"
            ? `${data.status}@${data.lastSeq}`
            : String(event)
      })
  }
  follower.begin({ seq: log, status: "idle" }, "stream_a")
  return world
}

describe("a follower", () => {
  it("passes hints straight through once it is live", () => {
    const world = opened(3)
    assert.strictEqual(world.catchUp(), 0)
    assert.isFalse(world.hear(statusNow("running", 4)))
    assert.isFalse(world.hear(events(4, 5)))
    assert.isFalse(world.hear({ type: "delta", turnId: "trn_a", eventId: "evt_a", index: 0, text: "Hi" }))
    assert.deepStrictEqual(world.told(), ["ready", "running@4", "4", "5", "delta"])
  })

  it("replays the log from where it is asked to, page by page, before anything else", () => {
    const world = opened(5, { after: 1 })
    assert.isFalse(world.hear(statusNow("running", 5)))
    assert.strictEqual(world.catchUp(2), 2)
    assert.deepStrictEqual(world.told(), ["ready", "2", "3", "4", "5", "running@5"])
  })

  it("reads the log where the next event is missing, and passes over what it has told", () => {
    const world = opened(0)
    world.catchUp()
    world.log = 3
    assert.isTrue(world.hear(events(3)))
    assert.isTrue(world.follower.isBehind)
    assert.strictEqual(world.catchUp(), 1)
    assert.isFalse(world.hear(events(2, 3)))
    assert.deepStrictEqual(world.told(), ["ready", "1", "2", "3"])
  })

  it("reads an event from the log that came without its text", () => {
    const world = opened(0)
    world.catchUp()
    world.log = 1
    assert.isTrue(world.hear({ type: "events", events: [{ seq: 1, turnId: "trn_a", type: "note" }] }))
    assert.strictEqual(world.catchUp(), 1)
    assert.deepStrictEqual(world.told(), ["ready", "1"])
  })

  it("names what does not fit by one gap, once there is room", () => {
    const world = opened(0)
    world.catchUp()
    world.shelf.places = 1
    world.log = 4
    assert.isTrue(world.hear(events(1, 2, 3)))
    assert.isFalse(world.hear(events(4)))
    world.catchUp()
    assert.isTrue(world.shelf.awaits)
    world.shelf.places = Infinity
    world.catchUp()
    world.hear(events(5))
    assert.deepStrictEqual(world.told(), ["ready", "1", "gap 2-4", "5"])
  })

  it("leaves nothing out of a replay, however little fits at a time", () => {
    const world = opened(6, { after: 0 })
    const told: Array<string> = world.told()
    for (let turn = 0; world.follower.isBehind && turn < 20; turn++) {
      world.shelf.places = 2
      world.catchUp()
      told.push(...world.told())
    }
    assert.deepStrictEqual(told, ["ready", "1", "2", "3", "4", "5", "6"])
    assert.isFalse(world.follower.isBehind)
  })

  it("tells the newest status that did not fit, once there is room", () => {
    const world = opened(0)
    world.catchUp()
    world.shelf.places = 0
    assert.isTrue(world.hear(statusNow("running", 0)))
    world.hear(statusNow("idle", 0))
    world.catchUp()
    assert.isTrue(world.shelf.awaits)
    world.shelf.places = Infinity
    world.catchUp()
    assert.isFalse(world.follower.isBehind)
    assert.deepStrictEqual(world.told(), ["ready", "idle@0"])
  })

  it("is not behind for events that nobody wants", () => {
    const world = opened(0, { types: "status" })
    world.catchUp()
    world.shelf.places = 0
    assert.isFalse(world.hear(events(1, 2)))
    assert.isFalse(world.follower.isBehind)
    assert.strictEqual(world.follower.passed, 2)
  })

  describe("that looks at the head", () => {
    it("reads what no hint told of, and tells the status after it", () => {
      const world = opened(1)
      world.catchUp()
      world.log = 3
      world.follower.look({ seq: 3, status: "running" })
      assert.strictEqual(world.catchUp(), 1)
      assert.deepStrictEqual(world.told(), ["ready", "2", "3", "running@3"])
    })

    it("tells a status that it missed, and one that it knows not again", () => {
      const world = opened(1)
      world.catchUp()
      world.follower.look({ seq: 1, status: "failed" })
      world.follower.look({ seq: 1, status: "failed" })
      assert.isFalse(world.follower.isBehind)
      assert.deepStrictEqual(world.told(), ["ready", "failed@1"])
    })

    it("learns nothing from one that is older than what it knows", () => {
      const world = opened(1)
      world.catchUp()
      world.hear(statusNow("running", 2))
      world.hear(events(2))
      world.follower.look({ seq: 1, status: "idle" })
      assert.isFalse(world.follower.isBehind)
      assert.deepStrictEqual(world.told(), ["ready", "running@2", "2"])
    })
  })
})
