import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  asyncTimeoutOf,
  type Hook,
  type HookData,
  HookInput,
  hookOf,
  matching,
  onErrorOf,
  onTimeoutOf,
  timeoutOf
} from "../../src/domain/hook.ts"

const points = ["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"] as const
const client = { type: "client" } as const
const url = { type: "url", url: "https://hooks.example.com/h?tenant=a" } as const
const agent = { type: "agent", agentId: "agt_01m7y1svs7e0087pe32vr71000" } as const

const hook = (fields: Partial<Hook> = {}): Hook => ({
  id: "hook_01m7y1svs7e0087pe32vr71000",
  name: "h",
  point: "before_tool_call",
  processor: client,
  enabled: true,
  ...fields
})

const data = {
  before_turn_start: { point: "before_turn_start", content: [{ type: "text", text: "pay them" }], submitMode: "queue" },
  before_tool_call: {
    point: "before_tool_call",
    toolCallId: "call_1",
    toolName: "payments.refund",
    toolInput: { amount: 75, to: { name: "ann" } }
  },
  after_tool_result: {
    point: "after_tool_result",
    toolCallId: "call_1",
    toolName: "payments.refund",
    toolInput: { amount: 75 },
    toolOutput: { ok: true }
  },
  after_model_response: {
    point: "after_model_response",
    content: [{ type: "text", text: "paid" }],
    modelId: "a/b",
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
  }
} as const satisfies { readonly [P in HookData["point"]]: HookData }

const asked = (fields: Partial<Hook>) => {
  const one = hook(fields)
  return matching([one], one.point, data[one.point]).length === 1
}

describe("hooks that match", () => {
  it("are given by their places in the profile, in order, from a place on", () => {
    const hooks = [hook(), hook({ point: "after_tool_result" }), hook({ enabled: false }), hook(), hook()]
    assert.deepStrictEqual(matching(hooks, "before_tool_call", data.before_tool_call), [0, 3, 4])
    assert.deepStrictEqual(matching(hooks, "before_tool_call", data.before_tool_call, 1), [3, 4])
    assert.deepStrictEqual(matching(hooks, "after_tool_result", data.after_tool_result), [1])
    assert.deepStrictEqual(matching(hooks, "before_turn_start", data.before_turn_start), [])
    assert.deepStrictEqual(matching([], "before_turn_start", data.before_turn_start), [])
  })

  it("are those of any of the selected tools", () => {
    for (const point of ["before_tool_call", "after_tool_result"] as const) {
      assert.isTrue(asked({ point, match: { tools: ["mail.*", "payments.*"] } }))
      assert.isTrue(asked({ point, match: {} }))
      assert.isFalse(asked({ point, match: { tools: ["mail.*", "Payments.*"] } }))
    }
  })

  const text = { path: "/content/0/text", op: "contains" } as const
  for (const [point, holds, fails] of [
    ["before_turn_start", { ...text, value: "pay" }, { ...text, value: "mail" }],
    ["before_tool_call", { path: "/amount", op: "gt", value: 50 }, { path: "/amount", op: "gt", value: 75 }],
    ["after_tool_result", { path: "/amount", op: "lte", value: 75 }, { path: "/amount", op: "lt", value: 75 }],
    [
      "after_model_response",
      { path: "/modelId", op: "eq", value: "a/b" },
      { path: "/usage/totalTokens", op: "ne", value: 3 }
    ]
  ] as const) {
    it(`are at ${point} those of which all conditions hold`, () => {
      assert.isTrue(asked({ point, match: { conditions: [holds] } }))
      assert.isFalse(asked({ point, match: { conditions: [fails] } }))
      assert.isFalse(asked({ point, match: { conditions: [holds, fails] } }))
      assert.isTrue(asked({ point, match: { conditions: [] } }))
    })
  }

  it("are asked before something happens also where a path leads nowhere, and not after it", () => {
    const nowhere = { path: "/nowhere", op: "eq", value: 1 } as const
    const otherKind = { path: "/amount", op: "startsWith", value: "7" } as const
    assert.isTrue(asked({ match: { conditions: [nowhere] } }))
    assert.isTrue(asked({ match: { conditions: [otherKind] } }))
    assert.isTrue(asked({ point: "before_turn_start", match: { conditions: [nowhere] } }))
    assert.isFalse(asked({ point: "after_tool_result", match: { conditions: [nowhere] } }))
    assert.isFalse(asked({ point: "after_model_response", match: { conditions: [nowhere] } }))
  })

  it("are not asked for a path that leads nowhere beside a condition that does not hold", () => {
    const nowhere = { path: "/nowhere", op: "eq", value: 1 } as const
    assert.isFalse(asked({ match: { conditions: [nowhere, { path: "/amount", op: "eq", value: 1 }] } }))
  })

  it("do not look into what surrounds the tool's input", () => {
    assert.isFalse(asked({ match: { conditions: [{ path: "/toolName", op: "exists" }] } }))
  })
})

describe("what a hook leaves out", () => {
  it("is a deny without an answer before something happens, an allow after it", () => {
    assert.deepStrictEqual(
      points.map((point) => onErrorOf(hook({ point }))),
      ["deny", "deny", "allow", "allow"]
    )
    assert.deepStrictEqual(
      points.map((point) => onErrorOf(hook({ point, onError: "ask" }))),
      ["ask", "ask", "ask", "ask"]
    )
  })
  it("is a deny when an ask expires", () => {
    assert.deepStrictEqual([onTimeoutOf(hook()), onTimeoutOf(hook({ onTimeout: "fail" }))], ["deny", "fail"])
  })
  it("is the longest time for an answer, and a day or an hour for an ask", () => {
    assert.deepStrictEqual(
      [url, agent, client].map((processor) => timeoutOf(hook({ processor }))),
      [30_000, 300_000, 0]
    )
    assert.deepStrictEqual(
      [url, agent, client].map((processor) => asyncTimeoutOf(hook({ processor }))),
      [3_600_000, 3_600_000, 86_400_000]
    )
    assert.deepStrictEqual(
      [timeoutOf(hook({ processor: url, timeoutMs: 1_000 })), asyncTimeoutOf(hook({ asyncTimeoutMs: 1_000 }))],
      [1_000, 1_000]
    )
  })
  it("is that it is enabled", () => {
    const input = Schema.decodeUnknownSync(HookInput)({ name: "h", point: "before_tool_call", processor: client })
    assert.deepStrictEqual(hookOf(input, "hook_x"), {
      id: "hook_x",
      name: "h",
      point: "before_tool_call",
      processor: client,
      enabled: true
    })
  })
})
