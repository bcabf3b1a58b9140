/** Which requests begin in which round of the event loop, and what neighbours of a busy workspace notice. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { once } from "node:events"
import { freshId } from "../../src/seed.ts"
import { Rounds } from "../../http/Rounds.ts"
import { send } from "./client.ts"
import { Line } from "./socket.ts"
import { serving, World } from "./tiny.ts"

const round = () => new Promise((resolve) => setImmediate(resolve))

/** Rounds at a clock that stands still until it is moved, and what has begun in them. */
const stand = (perRound?: number) => {
  const clock = { now: 1_000_000 }
  const rounds = new Rounds(() => clock.now, perRound)
  const begun: Array<string> = []
  const come = (workspace: string, name = workspace) => {
    const place = rounds.come(workspace)
    const begin = Effect.sync(() => {
      begun.push(name)
    })
    return Effect.runFork(place === undefined ? begin : Effect.andThen(place, begin))
  }
  /** Goes round until all have begun who came. */
  const settle = async (came: number) => {
    while (begun.length < came) await round()
  }
  return { begun, clock, come, settle }
}

const many = (n: number) => Array.from({ length: n }, (_, i) => i)

describe("the requests of a workspace", () => {
  it("begin at once where no other has asked", () => {
    const { begun, come } = stand()
    for (const i of many(100)) come("a", `a${i}`)
    assert.lengthOf(begun, 100)
  })

  it("begin one by one beside another's, in order, and the other's at once", async () => {
    const { begun, come, settle } = stand(2)
    come("b")
    begun.length = 0
    for (const i of many(20)) come("a", `a${i}`)
    await round()
    assert.deepStrictEqual(begun, ["a0", "a1"])
    come("b", "late")
    assert.strictEqual(begun.at(-1), "late")
    await round()
    assert.deepStrictEqual(begun, ["a0", "a1", "late", "a2"])
    await settle(21)
    assert.deepStrictEqual(
      begun.filter((name) => name !== "late"),
      many(20).map((i) => `a${i}`)
    )
  })

  it("share a round with those of the others", async () => {
    const { begun, come } = stand(9)
    for (const workspace of ["b", "c"]) come(workspace)
    await round()
    begun.length = 0
    for (const workspace of ["a", "b", "c"]) for (const i of many(5)) come(workspace, `${workspace}${i}`)
    assert.deepStrictEqual(begun, ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"])
    await round()
    assert.deepStrictEqual(begun.slice(9), ["a3", "a4", "b3", "b4", "c3", "c4"])
  })

  it("begin one by one where more workspaces are present than may begin in a round", async () => {
    const { begun, come } = stand(2)
    const workspaces = ["a", "b", "c", "d", "e"]
    for (const workspace of workspaces) come(workspace)
    await round()
    begun.length = 0
    for (const i of many(2)) for (const workspace of workspaces) come(workspace, `${workspace}${i}`)
    assert.deepStrictEqual(begun, ["a0", "b0", "c0", "d0", "e0"])
    await round()
    assert.deepStrictEqual(begun.slice(5), ["a1", "b1", "c1", "d1", "e1"])
  })

  it("that come while others of it wait stand behind them", async () => {
    const { begun, come, settle } = stand(2)
    come("b")
    for (const i of many(3)) come("a", `a${i}`)
    await round()
    come("a", "a3")
    await settle(5)
    assert.deepStrictEqual(begun, ["b", "a0", "a1", "a2", "a3"])
  })

  /** How many of three begin at once when another has asked before these pauses; the workspace asks before each. */
  const beginAfter = async (pauses: ReadonlyArray<number>) => {
    const { begun, clock, come } = stand(2)
    come("b")
    for (const ms of pauses) {
      come("a")
      await round()
      clock.now += ms
    }
    begun.length = 0
    for (const i of many(3)) come("a", `a${i}`)
    return begun.length
  }

  it.each([[[999]], [[1_000]], [[1_999]], [[1_500, 499]]])("wait while another has asked %j ms ago", async (pauses) => {
    assert.strictEqual(await beginAfter(pauses), 1)
  })

  it.each([[[2_000]], [[1_999, 1]], [[1_001, 999]]])(
    "begin at once when no other has asked for %j ms",
    async (pauses) => {
      assert.strictEqual(await beginAfter(pauses), 3)
    }
  )

  it("wait beside one that has asked a moment ago, in whichever second that was", () => {
    const { begun, clock, come } = stand(2)
    come("b")
    clock.now += 999
    come("b")
    clock.now += 2
    begun.length = 0
    for (const i of many(3)) come("a", `a${i}`)
    assert.deepStrictEqual(begun, ["a0"])
  })

  it("that wait begin together once their workspace is present alone", async () => {
    const { begun, clock, come } = stand(2)
    come("b")
    for (const i of many(10)) come("a", `a${i}`)
    await round()
    assert.lengthOf(begun, 3)
    clock.now += 2_000
    await round()
    assert.lengthOf(begun, 11)
  })

  it("begin at once again a round after the line has ended", async () => {
    const { begun, come } = stand(2)
    come("b")
    for (const i of many(2)) come("a", `a${i}`)
    await round()
    await round()
    come("a", "late")
    assert.deepStrictEqual(begun, ["b", "a0", "a1", "late"])
  })

  it("that come while their workspace begins wait for the next round", async () => {
    const { begun, clock, come } = stand(2)
    come("b")
    come("a", "first")
    const again: () => void = () => {
      if (begun.length < 50) come("a", `then${begun.length}`).addObserver(again)
    }
    come("a", "second").addObserver(again)
    await round()
    assert.lengthOf(begun, 3)
    clock.now += 500
    await round()
    assert.lengthOf(begun, 4)
  })

  it("that are interrupted leave the line", async () => {
    const { begun, come } = stand(2)
    come("b")
    come("a", "first")
    const gone = come("a", "gone")
    come("a", "next")
    await Effect.runPromise(Fiber.interrupt(gone))
    await round()
    assert.deepStrictEqual(begun, ["b", "first", "next"])
  })
})

describe("a neighbour of a workspace that asks hundreds of things at once", async () => {
  const world = new World()
  const flooding = world.issue(["read"]).key
  const neighbour = world.issue(["read"], { workspace: freshId("workspace") }).key
  const base = await serving(world)

  it("is answered before most of them", async () => {
    const request = (key: string) => `GET /v1/pause?ms=0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const answers = (n: number) => (line: Line) => line.statuses.length >= n
    const open = many(202).map(() => new Line(base))
    for (const { socket } of open) if (socket.connecting) await once(socket, "connect")
    const [last = new Line(base), first = new Line(base), ...flood] = open.toReversed()
    // Both are known. The neighbour is heard right before the flood, and asks again behind it.
    for (const key of [flooding, neighbour])
      await send(`${base}/v1/pause?ms=0`, { headers: { authorization: `Bearer ${key}` } })
    await first.send(request(neighbour)).until(answers(1))
    for (const line of flood) line.send(request(flooding))
    await last.send(request(neighbour)).until(answers(1))
    assert.isBelow(flood.filter(answers(1)).length, 100)
    for (const line of flood) await line.until(answers(1))
    for (const line of open) line.close()
  })
})
