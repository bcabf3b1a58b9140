/** A question to try hooks with. */
import type { Hook, HookData } from "../../src/domain/hook.ts"
import type { HookQuestion } from "../../src/hooks/question.ts"
import { freshId } from "../../src/seed.ts"

export const call = {
  point: "before_tool_call",
  toolCallId: "call_01m7y1svs7e0087pe32vr71000",
  toolName: "payments.refund",
  toolsetId: "tset_01m7y1svs7e0087pe32vr71000",
  toolInput: { amount: 75, note: "\u0000 \ud800 漢" }
} as const satisfies HookData

export const ask = (
  workspace: string,
  hook: Partial<Hook> & Pick<Hook, "processor">,
  data: HookData = call
): HookQuestion => ({
  workspace,
  data,
  index: 3,
  reviewer: false,
  hook: { id: freshId("hook"), name: "h", point: data.point, enabled: true, ...hook },
  agentId: freshId("agent"),
  threadId: freshId("thread"),
  turnId: freshId("turn"),
  deliveryId: freshId("delivery"),
  principal: { type: "api_key", id: freshId("key"), identity: "ann" },
  turnPrincipal: { type: "api_key", id: freshId("key"), identity: "bob" }
})
