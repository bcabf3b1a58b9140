/** L2 and L3 tell a call that was lost with its node from one that was not. */
import { assert, describe, it } from "@effect/vitest"
import { fromUuid } from "../../src/domain/ids.ts"
import type { Recorded } from "../invariants.ts"
import type { Executed } from "../tools/mcpServer.ts"
import type { HeadChange } from "./audit.ts"
import { lostCalls } from "./unknowns.ts"

const actor = "01890000-0000-7000-8000-000000000001"
const threadId = fromUuid("thread", actor)

const fact = (pos: number, type: string, event: Recorded["event"]): Recorded => ({
  pos,
  seq: pos,
  type,
  turn: "turn",
  n: pos,
  public: true,
  at: pos,
  event
})
const log = [
  fact(1, "user_message", {}),
  fact(2, "tool_intent", { toolCallId: "call", toolName: "bank.charge" }),
  fact(3, "tool_result", {
    toolCallId: "call",
    failureCode: "tool_outcome_unknown",
    failureText: "The node that ran the call was lost."
  })
]

const change = (n: number, pos: number, changes: Partial<HeadChange> = {}): HeadChange => ({
  n: String(n),
  at: n,
  writer: "n1",
  actor,
  owner_before: "a",
  owner_after: "a",
  epoch_before: 1,
  epoch_after: 1,
  rev_before: n,
  rev_after: n + 1,
  pos_after: pos,
  since_before: 1,
  lapsed: null,
  still: false,
  ...changes
})
const given = [
  change(1, 2),
  change(2, 2, { owner_after: null }),
  change(3, 2, { owner_before: null, owner_after: "b" }),
  change(4, 3)
]
const taken = [change(1, 2), change(2, 2, { owner_after: "b", lapsed: true }), change(3, 3)]
const run = (changes: Partial<Executed> = {}): Executed => ({
  tool: "charge",
  input: {},
  toolCallId: "call",
  idempotencyKey: null,
  authorization: null,
  cancelled: false,
  over: true,
  ...changes
})

const found = (heads: ReadonlyArray<HeadChange>, executed: ReadonlyArray<Executed>) =>
  lostCalls(new Map([[threadId, log]]), { heads, nameOf: new Map(), lateRenewals: [] }, executed, () => true).map(
    (text) => text.slice(0, 2)
  )

describe("calls that are said to have been lost", () => {
  it("were lost where somebody took the thread from a node that was dead", () => {
    assert.deepStrictEqual(found(taken, []), [])
    assert.deepStrictEqual(found(taken, [run()]), [])
  })
  it("break L2 where the thread was given back and the call never executed", () => {
    assert.deepStrictEqual(found(given, []), ["L2"])
  })
  it("break L3 where they were executed to their end", () => {
    assert.deepStrictEqual(found(given, [run()]), ["L3"])
  })
  it("are as they say where their node had given them up in the midst", () => {
    assert.deepStrictEqual(found(given, [run({ cancelled: true })]), [])
    assert.deepStrictEqual(found(given, [run({ over: false })]), [])
  })
  it("are not excused by a takeover before they began", () => {
    assert.deepStrictEqual(
      found([change(1, 1), change(2, 1, { owner_after: "b", lapsed: true }), change(3, 2), change(4, 3)], []),
      ["L2"]
    )
  })
})
