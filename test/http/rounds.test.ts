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
  return { begun, clock, come, rounds }
}

const many = (n: number) => Array.from({ length: n }, (_, i) => i)

describe("the requests of a workspace", () => {
  it("begin at once where no other has asked", () => {
    const { begun, come, rounds } = stand()
    for (const i of many(100)) come("a", `a${i}`)
    assert.lengthOf(begun, 100)
    assert.strictEqual(rounds.size, 0)
  })

  it("begin one by one beside another's, in order, and the other's at once", async () => {
    const { begun, come, rounds } = stand(2)
    come("b")
    begun.length = 0
    for (const i of many(20)) come("a", `a${i}`)
    await round()
    assert.deepStrictEqual(begun, ["a0", "a1"])
    come("b", "late")
    assert.strictEqual(begun.at(-1), "late")
    await round()
    assert.deepStrictEqual(begun, ["a0", "a1", "late", "a2"])
    while (rounds.size > 0) await round()
    assert.deepStrictEqual(
      begun.filter((name) => name !== "late"),
      many(20).map((i) => `a${i}`)
    )
  })

  it("share a round with those of the others", async () => {
    const { begun, come, rounds } = stand(9)
    for (const workspace of ["b", "c"]) come(workspace)
    await round()
    begun.length = 0
    for (const workspace of ["a", "b", "c"]) for (const i of many(5)) come(workspace, `${workspace}${i}`)
    assert.deepStrictEqual(begun, ["a0", "a1", "a2", "b0", "b1", "b2", "c0", "c1", "c2"])
    await round()
    assert.strictEqual(rounds.size, 0)
    assert.deepStrictEqual(begun.slice(9), ["a3", "a4", "b3", "b4", "c3", "c4"])
  })

  it("that come while others of it wait stand behind them", async () => {
    const { begun, come, rounds } = stand(2)
    come("b")
    for (const i of many(3)) come("a", `a${i}`)
    await round()
    come("a", "a3")
    while (rounds.size > 0) await round()
    assert.deepStrictEqual(begun, ["b", "a0", "a1", "a2", "a3"])
  })

  it("begin at once again when nobody else has asked for two seconds", async () => {
    const { begun, clock, come } = stand(2)
    come("b")
    come("a")
    await round()
    clock.now += 1_001
    for (const i of many(3)) come("a", `a${i}`)
    assert.deepStrictEqual(begun, ["b", "a", "a0"])
    await round()
    await round()
    clock.now += 1_001
    for (const i of many(3)) come("a", `then${i}`)
    assert.deepStrictEqual(begun.slice(5), ["then0", "then1", "then2"])
  })

  it("whose client has hung up leave the line", async () => {
    const { begun, come, rounds } = stand(2)
    come("b")
    come("a", "first")
    const gone = come("a", "gone")
    come("a", "next")
    assert.strictEqual(rounds.size, 2)
    await Effect.runPromise(Fiber.interrupt(gone))
    assert.strictEqual(rounds.size, 1)
    await round()
    assert.deepStrictEqual(begun, ["b", "first", "next"])
    assert.strictEqual(rounds.size, 0)
  })
})

describe("a neighbour of a workspace that asks hundreds of things at once", async () => {
  const world = new World()
  const flooding = world.issue(["read"]).key
  const neighbour = world.issue(["read"], { workspace: freshId("workspace") }).key
  const base = await serving(world)

  it("is answered before most of them", async () => {
    const request = (key: string) => `GET /v1/pause?ms=0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const isAnswered = ({ statuses }: Line) => statuses.length === 1
    const open = many(201).map(() => new Line(base))
    for (const { socket } of open) if (socket.connecting) await once(socket, "connect")
    const [last = new Line(base), ...flood] = open.toReversed()
    // Both are known, and have asked.
    for (const key of [neighbour, flooding])
      await send(`${base}/v1/pause?ms=0`, { headers: { authorization: `Bearer ${key}` } })
    for (const line of flood) line.send(request(flooding))
    await last.send(request(neighbour)).until(isAnswered)
    assert.isBelow(flood.filter(isAnswered).length, 100)
    for (const line of flood) await line.until(isAnswered)
    for (const line of open) line.close()
  })
})
