/** Why a write of memory is refused, in the words that endpoints and tools share. */
import { limits } from "../domain/limits.ts"
import type { Written } from "./writing.ts"

type Refusal = Extract<Written, { readonly refused: string }>
type OfDelete = Exclude<Refusal, { readonly refused: "agent_archived" | "full" }>

/** Whether a delete may be refused so. */
export const isOfDelete = (refusal: Refusal): refusal is OfDelete =>
  refusal.refused !== "agent_archived" && refusal.refused !== "full"

export const deleteRefusal = (refusal: OfDelete) => {
  switch (refusal.refused) {
    case "no_agent":
      return { error: "not_found", message: "no such agent" } as const
    case "absent":
      return { error: "not_found", message: "there is no entry with this key" } as const
    case "conflict":
      return {
        error: "memory_conflict",
        message: "expectedVersion: the entry is at another version",
        currentVersion: refusal.currentVersion
      } as const
  }
}

export const putRefusal = (refusal: Refusal) => {
  switch (refusal.refused) {
    case "agent_archived":
      return { error: "agent_archived", message: "the agent is archived: its memory can be read and deleted" } as const
    case "full":
      return {
        error: "memory_full",
        message: `the store has ${limits.memoryEntries} entries, as many as it may`
      } as const
    default:
      return deleteRefusal(refusal)
  }
}

export const tooLong = {
  error: "payload_too_large",
  message: `value: expected a text of at most ${limits.memoryValueBytes} bytes`
} as const
