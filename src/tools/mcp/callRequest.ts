/** What a call brings to its server: its input, and beside it whose call it is. */
import type { GivenLease } from "../../keys/AgentLeases.ts"

export interface CallRequest {
  readonly input: unknown
  readonly toolCallId: string
  readonly lease: GivenLease | undefined
}

/** `_meta` of the request. */
export const metaOf = ({ lease, toolCallId }: Omit<CallRequest, "input">) => ({
  "troupe/toolCallId": toolCallId,
  ...(lease !== undefined && { "troupe/lease": lease })
})
