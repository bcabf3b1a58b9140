/**
 * What the runtime says of calls whose outcome it does not know, held against the ledger of the tool server.
 *
 * L2. A call that was never executed, and whose node did not die, is not said to have been lost.
 * L3. Neither is one that ended while its node lived, which had not given it up: its outcome was in hand.
 *
 * A node that has lost its lease counts as dead: somebody took the thread from it between intent and result.
 */
import { toUuid } from "../../src/domain/ids.ts"
import type { Recorded } from "../invariants.ts"
import type { Executed } from "../tools/mcpServer.ts"
import { type Audit, isTakeover } from "./audit.ts"

/** Of the runtime itself: an MCP connection that broke says something else. */
const isLost = ({ event, type }: Recorded) =>
  type === "tool_result" &&
  event.failureCode === "tool_outcome_unknown" &&
  /node .*lost/i.test(String(event.failureText))

export const lostCalls = (
  logs: ReadonlyMap<string, ReadonlyArray<Recorded>>,
  audit: Audit,
  executed: ReadonlyArray<Executed>,
  counted: (toolName: string) => boolean
): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const changes = Map.groupBy(audit.heads, ({ actor }) => actor)
  const ledger = Map.groupBy(executed, ({ toolCallId }) => String(toolCallId))
  for (const [threadId, log] of logs) {
    for (const result of log) {
      if (!isLost(result)) continue
      const call = String(result.event.toolCallId)
      const intent = log.find(({ event, type }) => type === "tool_intent" && event.toolCallId === call)
      if (intent === undefined || !counted(String(intent.event.toolName))) continue
      let pos = 0
      const died = (changes.get(toUuid(threadId)) ?? []).some((change) => {
        // A claim moves nothing: it stands where the last append has left the log.
        pos = Math.max(pos, change.pos_after)
        return isTakeover(change) && pos >= intent.pos && pos < result.pos
      })
      if (died) continue
      const runs = ledger.get(call) ?? []
      const ended = runs.some(({ cancelled, over }) => over && !cancelled)
      if (runs.length === 0)
        broken.push(
          `L2: ${call} is said to have been lost with its node, which did not die, and was never executed (${threadId})`
        )
      else if (ended)
        broken.push(
          `L3: ${call} is said to have been lost with its node, which did not die, and had been executed (${threadId})`
        )
    }
  }
  return broken
}
