/** Pages of a schedule's runs, while runs come into its log. */
import { assert, describe, it } from "@effect/vitest"
import { type LoggedRun, pageOfRuns, readPlace } from "../../src/schedules/runs.ts"
import { openRuns, startingRun } from "../../src/schedules/shown.ts"
import { short } from "../../src/database/shorthand.ts"
import { storedOf } from "./stored.ts"

const runOf = (id: string) => startingRun("sch", id, 0, "schedule")
const logOf = (...ids: ReadonlyArray<string>): ReadonlyArray<LoggedRun> =>
  ids.map((id, i) => ({ seq: ids.length - i, run: runOf(id) }))

/** Page by page; `log` is what it holds when each is read. */
const read = (
  limit: number,
  pages: ReadonlyArray<{ readonly open: ReadonlyArray<string>; readonly log: ReadonlyArray<LoggedRun> }>
) => {
  let cursor: ReadonlyArray<string | number> | undefined
  return pages.map(({ log, open }) => {
    const behind = readPlace(cursor)
    const before = behind?.before ?? Infinity
    const logged = log.filter(({ seq }) => seq < before).slice(0, limit + 1 + (behind?.shown.length ?? 0))
    const { next, runs } = pageOfRuns({ open: open.map(runOf), logged, limit, behind })
    cursor = next
    return `${runs.map(({ id }) => id).join(" ")}${next === undefined ? "" : " …"}`
  })
}

describe("runs that have come to nothing yet", () => {
  it("are those that begin, wait, or have not been heard of, newest first, each once", () => {
    const firing = (runId: string, scheduledAt: number) => ({ runId, scheduledAt, by: "manual" })
    const carry = { firing: firing("b", 2), held: firing("a", 1), queued: [firing("c", 3), firing("d", 4)] }
    const asked = [startingRun("sch", "d", 4, "manual"), startingRun("sch", "e", 5, "manual")]
    const runs = openRuns({ ...storedOf({}), carry: short(JSON.stringify(carry)) }, asked)
    assert.deepStrictEqual(
      runs.map(({ id, status }) => `${id} ${status}`),
      ["e", "d", "c", "b", "a"].map((id) => `${id} starting`)
    )
  })
})

describe("pages of runs", () => {
  it("hold each run once, those that have not begun yet in front", () => {
    const log = logOf("b", "a")
    const same = { open: ["d", "c"], log }
    assert.deepStrictEqual(read(1, [same, same, same, same]), ["d …", "c …", "b …", "a"])
    assert.deepStrictEqual(read(2, [same, same]), ["d c …", "b a"])
    assert.deepStrictEqual(read(3, [same, same]), ["d c b …", "a"])
    assert.deepStrictEqual(read(4, [same]), ["d c b a"])
    assert.deepStrictEqual(read(2, [{ open: ["d", "c"], log: [] }]), ["d c"])
  })

  it("hold those once that come into the log between two pages, or while one is read", () => {
    const before = { open: ["d", "c"], log: logOf("b", "a") }
    const after = { open: [], log: logOf("c", "d", "b", "a") }
    assert.deepStrictEqual(read(1, [before, after, after, after]), ["d …", "c …", "b …", "a"])
    assert.deepStrictEqual(read(2, [before, after]), ["d c …", "b a"])
    assert.deepStrictEqual(read(3, [before, after]), ["d c b …", "a"])
    assert.deepStrictEqual(read(4, [{ open: ["d", "c"], log: after.log }]), ["c d b a"])
  })
})
