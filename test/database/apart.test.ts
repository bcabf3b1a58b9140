import { assert, describe, it } from "@effect/vitest"
import pg from "pg"
import { apart } from "../../src/database/apart.ts"

const refused = (code: string) => Object.assign(new pg.DatabaseError("no", 2, "error"), { code, severity: "ERROR" })

/** What is tried, in order, and who fails, where statements with these fail for this reason. */
const tried = async (all: ReadonlyArray<number>, fails: (some: ReadonlyArray<number>, n: number) => unknown) => {
  const attempts: Array<ReadonlyArray<number>> = []
  const failed: Array<number> = []
  await apart(
    all,
    async (some) => {
      attempts.push(some)
      const cause = fails(some, attempts.length)
      if (cause !== undefined) throw cause
      return []
    },
    (some) => {
      failed.push(...some)
    }
  )
  return { attempts, failed }
}

describe("what shares statements", () => {
  for (const [reason, cause] of Object.entries({
    "a reason of its own": refused("22003"),
    "its lock": refused("55P03"),
    "its size": refused("57014")
  })) {
    it(`is taken apart until the one that fails for ${reason} stands alone`, async () => {
      const { attempts, failed } = await tried([1, 2, 3, 4, 5], (some) => (some.includes(4) ? cause : undefined))
      assert.deepStrictEqual([attempts, failed], [[[1, 2, 3, 4, 5], [1, 2, 3], [4, 5], [4], [5]], [4]])
    })
  }

  it("is tried again whole when a connection is lost, twice in all", async () => {
    const lost = new Error("Connection terminated unexpectedly")
    assert.deepStrictEqual(await tried([1, 2], (_, n) => (n < 3 ? lost : undefined)), {
      attempts: [
        [1, 2],
        [1, 2],
        [1, 2]
      ],
      failed: []
    })
    assert.deepStrictEqual(await tried([1, 2], () => lost), {
      attempts: [
        [1, 2],
        [1, 2],
        [1, 2]
      ],
      failed: [1, 2]
    })
  })

  it("goes on with what a statement has left", async () => {
    const attempts: Array<ReadonlyArray<number>> = []
    await apart(
      [1, 2, 3],
      async (some) => {
        attempts.push(some)
        return some.slice(1)
      },
      () => assert.fail("nothing fails")
    )
    assert.deepStrictEqual(attempts, [[1, 2, 3], [2, 3], [3]])
  })
})
