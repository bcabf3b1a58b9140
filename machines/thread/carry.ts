/** What outlives a turn: what each fact leaves in the carry. */
import type { ToolReveal } from "../../src/domain/event.ts"
import { addUsage } from "../../src/domain/usage.ts"
import { type Approval, type Carry, isApproved, type Revealed } from "./context.ts"
import type { Fact, ResponseDetail } from "./facts.ts"

/** What is in force after one more reveal. */
export const revealed = (known: Revealed | undefined, { families = [], tools = [] }: ToolReveal): Revealed => ({
  families: [...new Set([...(known?.families ?? []), ...families])],
  tools: [...new Set([...(known?.tools ?? []), ...tools.map(({ name, toolsetId }) => `${toolsetId}/${name}`)])]
})

const allowed = (carry: Carry, approval: Approval): Carry =>
  isApproved(carry, approval.by, approval.tool)
    ? carry
    : { ...carry, approvals: [...(carry.approvals ?? []), approval] }

const uncut = (carry: Carry): Carry => {
  if (carry.cut === undefined) return carry
  const { cut: _, ...rest } = carry
  return rest
}

/** After a response: whether the model has cut the newest one. */
const cutBy = (carry: Carry, turnId: string, response: ResponseDetail | undefined): Carry => {
  if (response === undefined) return carry
  const { finishReason } = response
  return finishReason === undefined ? uncut(carry) : { ...carry, cut: { turnId, finishReason } }
}

/** What outlives the turn, after one more fact. */
export const evolveCarry = (carry: Carry, fact: Fact): Carry => {
  switch (fact.type) {
    case "user_message": {
      const model = fact.detail?.plan?.models[0]
      return model === undefined ? carry : { ...uncut(carry), model }
    }
    case "assistant_message":
    case "response_emptied":
      return cutBy(carry, fact.turnId, fact.detail)
    case "tool_intent":
      return cutBy(carry, fact.turnId, fact.detail.response)
    case "tool_result":
      return fact.event.reveal === undefined ? carry : { ...carry, reveals: revealed(carry.reveals, fact.event.reveal) }
    case "wait_resolved":
      return fact.detail?.approval === undefined ? carry : allowed(carry, fact.detail.approval)
    case "compaction_wanted":
      return { ...carry, compactionWanted: true }
    case "archived":
      return { ...carry, archivedAt: fact.at }
    case "compacting": {
      const { compactionWanted: _, ...rest } = carry
      return carry.compactionWanted === undefined ? carry : rest
    }
    case "compacted": {
      const { compaction, usage } = fact.event
      const boundary =
        fact.detail === undefined ? {} : { compaction: { pos: fact.detail.pos, throughSeq: compaction.throughSeq } }
      return { ...carry, usage: addUsage(carry.usage, usage), ...boundary }
    }
    case "turn_completed":
    case "turn_cancelled":
    case "turn_failed": {
      // One that was turned away had no response.
      const { last: _, ...rest } = carry.cut?.turnId === fact.turnId ? carry : uncut(carry)
      const usage = addUsage(carry.usage, fact.event.usage)
      if (fact.type === "turn_completed") return { ...rest, usage }
      return {
        ...rest,
        usage,
        last: { turnId: fact.turnId, outcome: fact.type === "turn_failed" ? "failed" : "cancelled" }
      }
    }
    default:
      return carry
  }
}
