import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type BatchOptions, batched } from "../../src/database/batches.ts"

/** The groups that come of these requests, asked for at once. */
const groupsOf = (
  items: ReadonlyArray<string>,
  options: Pick<BatchOptions<string, void, never>, "max" | "size" | "key">
) =>
  Effect.gen(function* () {
    const groups: Array<ReadonlyArray<string>> = []
    const ask = batched<string, void, never>({
      ...options,
      lanes: 1,
      run: async (requests) => {
        groups.push(requests.map(({ item }) => item))
        for (const { answer } of requests) answer(Effect.void)
      }
    })
    yield* Effect.all(items.map(ask), { concurrency: "unbounded" })
    return groups
  })

const size = { of: (item: string) => item.length, most: 6 }

describe("a batch", () => {
  it.live("holds what fits, to the last character, and no more", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* groupsOf(["aaa", "bbb"], { max: 9, size }), [["aaa", "bbb"]])
      assert.deepStrictEqual(yield* groupsOf(["aaa", "bbbb"], { max: 9, size }), [["aaa"], ["bbbb"]])
    })
  )

  it.live("takes alone what fits into none, and lets nothing overtake what did not fit", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* groupsOf(["a", "bbbbbbbbb", "c"], { max: 9, size }), [["a"], ["bbbbbbbbb"], ["c"]])
      assert.deepStrictEqual(yield* groupsOf(["aaaaa", "bb", "c"], { max: 9, size }), [["aaaaa"], ["bb", "c"]])
    })
  )

  it.live("passes over what waits for its key, however large", () =>
    Effect.gen(function* () {
      const key = ([first = ""]: string) => first
      assert.deepStrictEqual(yield* groupsOf(["a", "aaaaaaaaa", "b", "c"], { max: 9, size, key }), [
        ["a", "b", "c"],
        ["aaaaaaaaa"]
      ])
      assert.deepStrictEqual(yield* groupsOf(["a", "b", "c"], { max: 2, key }), [["a", "b"], ["c"]])
    })
  )
})
