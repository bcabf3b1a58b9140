/** Who is let in where many share room: C1 and C2 of actors/Line.ts. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import fc from "fast-check"
import { MemoryRoom } from "../../actors/thread/room.ts"

const open = (room: MemoryRoom, size: number, inside: Array<number>, name: number) => {
  const gate = Deferred.makeUnsafe<void>()
  const fiber = Effect.runFork(
    room.within(
      size,
      Effect.andThen(
        Effect.sync(() => {
          inside.push(name)
        }),
        Deferred.await(gate)
      )
    )
  )
  return {
    leave: () => {
      Effect.runSync(Deferred.succeed(gate, undefined))
      return Effect.runPromise(Fiber.await(fiber))
    },
    interrupt: () => Effect.runPromise(Fiber.interrupt(fiber))
  }
}

describe("a room", () => {
  it("lets in who comes first, however small those behind are, and one that is larger than all of it alone", async () => {
    const room = new MemoryRoom(10)
    const inside: Array<number> = []
    const [small, large, tiny] = [open(room, 6, inside, 1), open(room, 50, inside, 2), open(room, 1, inside, 3)]
    assert.deepStrictEqual(inside, [1])
    await small.leave()
    assert.deepStrictEqual(inside, [1, 2])
    await large.leave()
    assert.deepStrictEqual(inside, [1, 2, 3])
    await tiny.leave()
  })

  it("lets in whoever has just begun to wait, wherever its fiber pauses", async () => {
    // A fiber pauses after some 2,000 steps.
    for (let steps = 2_020; steps < 2_060; steps++) {
      const room = new MemoryRoom(1)
      const inside: Array<number> = []
      const first = open(room, 1, inside, 1)
      const second = Effect.runFork(
        Effect.gen(function* () {
          for (let i = 0; i < steps; i++) yield* Effect.sync(() => {})
          yield* room.within(1, Effect.void)
        })
      )
      await Effect.runPromise(Effect.timeout(Effect.andThen(Effect.promise(first.leave), Fiber.join(second)), 5_000))
    }
  })

  it("never holds more than its cap but for one alone, keeps the order, and is empty when all have left or were interrupted", async () => {
    const move = fc.record({
      size: fc.integer({ min: 0, max: 15 }),
      act: fc.constantFrom("come", "leave", "interrupt"),
      who: fc.nat()
    })
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const room = new MemoryRoom(20)
        const inside: Array<number> = []
        const visits: Array<{ readonly size: number; readonly visit: ReturnType<typeof open> }> = []
        const gone = new Set<number>()
        const held = () =>
          inside.filter((name) => !gone.has(name)).reduce((sum, name) => sum + (visits[name]?.size ?? 0), 0)
        for (const { act, size, who } of moves) {
          if (act === "come") {
            const name = visits.length
            // Who enters at once is counted, too.
            visits.push({ size, visit: open(room, size, inside, name) })
          } else if (visits.length > 0) {
            const name = who % visits.length
            const { visit } = visits[name] ?? assert.fail()
            if (act === "leave" && !inside.includes(name)) continue
            gone.add(name)
            await visit[act]()
          }
          assert.deepStrictEqual(
            inside,
            inside.toSorted((a, b) => a - b),
            "order"
          )
          if (inside.filter((name) => !gone.has(name)).length > 1) assert.isAtMost(held(), 20)
          const waits = visits.filter((_, name) => !inside.includes(name) && !gone.has(name)).length
          assert.strictEqual(room.waiting, waits)
          if (held() === 0) assert.strictEqual(waits, 0, "somebody waits for nothing")
        }
        for (const [name, { visit }] of visits.entries()) if (!gone.has(name)) await visit.interrupt()
        assert.strictEqual(room.waiting, 0)
        const after = open(room, 1_000, inside, -1)
        assert.strictEqual(inside.at(-1), -1, "the room is empty")
        await after.leave()
      }),
      { numRuns: 300 }
    )
  })
})
