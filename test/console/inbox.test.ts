/** The order of the inbox. */
import { assert, describe, it } from "@effect/vitest"
import { bornAt } from "../../console/src/parts/born.ts"
import { groupsOf, type Item, itemsOf, type Operation, type Thread } from "../../console/src/inbox/items.ts"
import { alphabet, bornAt as bornAtTheServer } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"

/** A wait's id of that time. */
const waitId = (ms: number) => {
  let time = ""
  for (let i = 0, left = ms; i < 10; i++, left = Math.floor(left / 32)) time = `${alphabet[left % 32]}${time}`
  return `wait_${time}${"0".repeat(16)}`
}

const at = "2026-01-01T00:00:00.000Z"
const by = { type: "user", id: "usr_1" } as const
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }

/** A thread with waits of these times. */
const thread = (id: string, times: ReadonlyArray<number>, askedBy?: string): Thread => ({
  thread: {
    id,
    agentId: "agt_1",
    workspaceId: "wsp_1",
    createdAt: at,
    updatedAt: at,
    createdBy: by,
    updatedBy: by,
    ...(askedBy === undefined ? {} : { askedBy: { threadId: askedBy, toolCallId: "call_1" } })
  },
  status: "awaiting",
  lastSeq: 1,
  updatedAt: at,
  usage,
  pendingWaits: times.map((ms) => ({
    id: waitId(ms),
    turnId: "trn_1",
    type: "role_approval",
    state: "open",
    target: "person"
  }))
})

const operation = (id: string, ms: number): Operation => ({
  id,
  action: "agent.create",
  state: "pending",
  createdAt: new Date(ms).toISOString(),
  expiresAt: at
})

const nameOf = (item: Item) => (item.kind === "wait" ? item.thread.thread.id : item.id)

/** Each group as `[what stands on top if nothing waits there, items by their depth]`. */
const shown = (threads: ReadonlyArray<Thread>, operations: ReadonlyArray<Operation> = []) =>
  groupsOf(itemsOf(threads, operations)).map(({ hasOnlyAsked, id, rows }) => [
    ...(hasOnlyAsked ? [`${id} above`] : []),
    ...rows.map(({ depth, item }) => `${"> ".repeat(depth)}${nameOf(item)} ${item.since}`)
  ])

describe("the time of a wait", () => {
  it("is that of its id, as the server knows it", () => {
    const id = freshId("wait")
    assert.strictEqual(bornAt(id), bornAtTheServer(id))
    assert.closeTo(bornAt(id) ?? 0, Date.now(), 60_000)
    for (const none of ["wait_no", `wait_${"0".repeat(25)}`, `wait_${"u".repeat(26)}`]) assert.isUndefined(bornAt(none))
  })
})

describe("the inbox", () => {
  it("has what waits for the longest time first, whatever it is", () => {
    assert.deepStrictEqual(shown([thread("c", [30]), thread("a", [10, 40])], [operation("op", 20)]), [
      ["a 10", "a 40"],
      ["op 20"],
      ["c 30"]
    ])
  })

  it("has asked threads under the thread that asked, as deep as they were asked", () => {
    assert.deepStrictEqual(
      shown([
        thread("below", [10], "middle"),
        thread("other", [20]),
        thread("top", [40]),
        thread("middle", [30], "top")
      ]),
      [["top 40", "> middle 30", "> > below 10"], ["other 20"]]
    )
  })

  it("names the thread that asked where nothing waits in it", () => {
    assert.deepStrictEqual(shown([thread("one", [10], "asker"), thread("two", [20], "asker")]), [
      ["asker above", "> one 10", "> two 20"]
    ])
  })

  it("leaves out what waits for neither a person nor a client", () => {
    const { pendingWaits, ...rest } = thread("a", [10])
    const waits = pendingWaits.map((wait) => ({ ...wait, target: "agent" as const }))
    assert.deepStrictEqual(shown([{ ...rest, pendingWaits: waits }]), [])
  })
})
