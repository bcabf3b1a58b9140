import { assert, describe, it } from "@effect/vitest"
import type { Input } from "../../src/domain/input.ts"
import {
  executionOrder,
  lastToOpen,
  pendingState,
  queuedMessage,
  threadDetail,
  type DetailRows
} from "../../src/threads/detail.ts"
import { bornAt } from "../../src/domain/ids.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { freshId } from "../../src/seed.ts"

const by = { type: "api_key", id: "key_1" } as const
const input = (ord: number, more: Partial<Input> = {}): Input => ({
  inputId: `inp_${"0".repeat(25)}${ord}`,
  ord,
  content: [{ type: "text", text: `${ord}` }],
  mode: "queue",
  principal: by,
  queuedAt: 1_000 * ord,
  ...more
})
const ords = (inputs: ReadonlyArray<Input>) => executionOrder(inputs).map(({ ord }) => ord)

const rows: DetailRows = {
  workspaceId: "wsp_1",
  threadId: "thr_1",
  agentId: "agt_1",
  createdAt: 0,
  attributes: { createdBy: by },
  head: { status: "idle", seq: 0, updatedAt: 5 },
  carry: { usage: noUsage },
  pending: [],
  waits: []
}
const spend = { spent: 0.5, window: "7d", at: 1_000 } as const

describe("the execution order", () => {
  it("is that of arrival", () => assert.deepStrictEqual(ords([input(3), input(1), input(2)]), [1, 2, 3]))

  it("puts steers of a turn before the queue, and an interrupt before both", () => {
    const pending = [
      input(1),
      input(2, { mode: "steer", forTurnId: "trn_1" }),
      input(3, { mode: "interrupt" }),
      input(4, { mode: "steer", forTurnId: "trn_1" })
    ]
    assert.deepStrictEqual(ords(pending), [3, 2, 4, 1])
  })

  it("leaves a steer that found no turn where it came", () => {
    assert.deepStrictEqual(ords([input(1), input(2, { mode: "steer" }), input(3)]), [1, 2, 3])
  })
})

describe("a queued message", () => {
  it("belongs to the turn that it steers while that runs, and to its own otherwise", () => {
    const steer = input(1, { mode: "steer", forTurnId: "trn_active" })
    const own = `trn_${steer.inputId.slice(4)}`
    assert.deepStrictEqual(
      [queuedMessage(steer, "trn_active").turnId, pendingState(steer, "trn_active")],
      ["trn_active", "steered"]
    )
    assert.deepStrictEqual(
      [queuedMessage(steer, "trn_other").turnId, pendingState(steer, "trn_other")],
      [own, "queued"]
    )
    assert.deepStrictEqual([queuedMessage(steer, undefined).turnId, pendingState(steer, undefined)], [own, "queued"])
    assert.strictEqual(queuedMessage(input(2), "trn_active").turnId, `trn_${input(2).inputId.slice(4)}`)
  })

  it("names its model only when it brought one", () => {
    assert.notProperty(queuedMessage(input(1), undefined), "model")
    assert.strictEqual(queuedMessage(input(1, { model: "a/b" }), undefined).model, "a/b")
  })
})

describe("the input whose model a thread shows", () => {
  it("is the one that would run last", () => {
    assert.isUndefined(lastToOpen([], undefined))
    assert.strictEqual(lastToOpen([input(2), input(1)], undefined)?.ord, 2)
    assert.strictEqual(
      lastToOpen(
        [input(1), input(2, { mode: "interrupt" }), input(3, { mode: "steer", forTurnId: "trn_old" })],
        "trn_active"
      )?.ord,
      1
    )
  })

  it("is none where all that waits joins the running turn, which has its model", () => {
    const steer = input(1, { mode: "steer", forTurnId: "trn_active" })
    assert.isUndefined(lastToOpen([steer], "trn_active"))
    assert.strictEqual(lastToOpen([steer], "trn_other")?.ord, 1)
    assert.strictEqual(lastToOpen([steer, input(2)], "trn_active")?.ord, 2)
  })
})

describe("thread detail", () => {
  it("of a thread that nothing has happened to leaves out what is not known", () => {
    assert.deepStrictEqual(threadDetail(rows, spend, undefined), {
      lastSeq: 0,
      status: "idle",
      updatedAt: "1970-01-01T00:00:00.005Z",
      thread: {
        id: "thr_1",
        agentId: "agt_1",
        workspaceId: "wsp_1",
        createdAt: "1970-01-01T00:00:00.000Z",
        updatedAt: "1970-01-01T00:00:00.000Z",
        createdBy: by,
        updatedBy: by
      },
      budgetSpend: { generatedAt: "1970-01-01T00:00:01.000Z", spent: 0.5, window: "7d" },
      inFlightWaitIds: [],
      pendingWaits: [],
      queued: [],
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
    })
  })

  it("adds the running turn's usage to that of the turns that ended", () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    const detail = threadDetail({ ...rows, carry: { usage, turn: { turnId: "trn_1", usage } } }, spend, undefined)
    assert.deepStrictEqual(detail.usage, { inputTokens: 2, outputTokens: 4, totalTokens: 6 })
  })

  it("lists open waits and their ids in one order", () => {
    const wait = (id: string) =>
      ({ id, turnId: "trn_1", type: "client_tool", state: "open", target: "client" }) as const
    const detail = threadDetail({ ...rows, waits: [wait("wait_2"), wait("wait_1")] }, spend, undefined)
    assert.deepStrictEqual(detail.inFlightWaitIds, ["wait_2", "wait_1"])
    assert.deepStrictEqual(
      detail.pendingWaits.map(({ id }) => id),
      ["wait_2", "wait_1"]
    )
  })

  it("tells its last edit apart from its last fact", () => {
    const detail = threadDetail({ ...rows, attributes: { createdBy: by, editedAt: 9 } }, spend, undefined)
    assert.deepStrictEqual(
      [detail.thread.updatedAt, detail.updatedAt],
      ["1970-01-01T00:00:00.009Z", "1970-01-01T00:00:00.005Z"]
    )
    assert.strictEqual(
      threadDetail({ ...rows, attributes: { createdBy: by, editedAt: 3 } }, spend, undefined).thread.updatedAt,
      "1970-01-01T00:00:00.003Z"
    )
  })
})

describe("the birth of an id", () => {
  it("is read from the id", () => {
    const before = Date.now()
    const born = bornAt(freshId("input"))
    assert.isAtLeast(born, before)
    assert.isAtMost(born, Date.now() + 1)
  })
})

describe("a thread that was set aside", () => {
  const turn = { turnId: "trn_1", usage: noUsage }
  it("says since when: it failed, and its turn has not ended", () => {
    const detail = threadDetail(
      { ...rows, head: { status: "failed", seq: 1, updatedAt: 5 }, carry: { usage: noUsage, turn } },
      spend,
      undefined
    )
    assert.strictEqual(detail.quarantinedAt, "1970-01-01T00:00:00.005Z")
  })

  it("is no thread whose turn failed, nor one whose turn runs", () => {
    assert.notProperty(
      threadDetail({ ...rows, head: { status: "failed", seq: 1, updatedAt: 5 } }, spend, undefined),
      "quarantinedAt"
    )
    assert.notProperty(
      threadDetail(
        { ...rows, head: { status: "running", seq: 1, updatedAt: 5 }, carry: { usage: noUsage, turn } },
        spend,
        undefined
      ),
      "quarantinedAt"
    )
  })
})
