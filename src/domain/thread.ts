/** Thread detail, Queued message and pending wait (specification, Resources), and what [ext] adds. */
import { Schema } from "effect"
import { ContentBlock, MessageContent, SubmitMode } from "./content.ts"
import { HookPoint, HookProcessorType } from "./event.ts"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"
import { ModelUsage } from "./usage.ts"

export const threadStatuses = ["running", "awaiting", "idle", "failed", "cancelled"] as const
export const ThreadStatus = Schema.Literals(threadStatuses)
export type ThreadStatus = typeof ThreadStatus.Type

export const BudgetWindow = Schema.Literals(["24h", "7d", "total"])
export type BudgetWindow = typeof BudgetWindow.Type

export const Thread = Schema.Struct({
  id: Schema.String,
  agentId: Schema.String,
  workspaceId: Schema.String,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  createdBy: Principal,
  updatedBy: Principal,
  identity: Schema.optionalKey(Schema.String),
  maxCost: Schema.optionalKey(Schema.Finite),
  title: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  model: Schema.optionalKey(Schema.String),
  /** With profileVersion: the profile that the thread is pinned to, whatever its agent follows. */
  profileId: Schema.optionalKey(Schema.String),
  profileVersion: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "Thread" })
export type Thread = typeof Thread.Type

export const QueuedMessage = Schema.Struct({
  id: Schema.String,
  content: MessageContent,
  queuedAt: Timestamp,
  submitMode: SubmitMode,
  turnId: Schema.String,
  /** Whose words these are: who sent the message, or edited it last. */
  principal: Principal,
  /** Who sent it first, where that is somebody else. */
  submittedBy: Schema.optionalKey(Principal),
  model: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "QueuedMessage" })
export type QueuedMessage = typeof QueuedMessage.Type

export const PendingWait = Schema.Struct({
  id: Schema.String,
  turnId: Schema.String,
  type: Schema.Literals(["client_tool", "hook_ask", "role_approval"]),
  state: Schema.Literals(["open", "resolved", "expired", "cancelled"]),
  target: Schema.Literals(["person", "client", "url", "agent"]),
  expiresAt: Schema.optionalKey(Timestamp),
  hookId: Schema.optionalKey(Schema.String),
  point: Schema.optionalKey(HookPoint),
  processor: Schema.optionalKey(HookProcessorType),
  reason: Schema.optionalKey(Schema.String),
  toolCallId: Schema.optionalKey(Schema.String),
  toolInput: Schema.optionalKey(Schema.Unknown),
  toolName: Schema.optionalKey(Schema.String),
  toolsetId: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "PendingWait" })
export type PendingWait = typeof PendingWait.Type

/** What a hook asks about, beside the call: shown to those who may decide, while the wait is open. */
const subject = {
  /** Of before_turn_start the message, of after_model_response the text; empty for a response of calls only. */
  content: Schema.optionalKey(Schema.Array(ContentBlock)),
  /** Of after_tool_result. */
  toolOutput: Schema.optionalKey(Schema.Unknown),
  failureCode: Schema.optionalKey(Schema.String)
}
const WaitSubject = Schema.Struct(subject)
export type WaitSubject = typeof WaitSubject.Type

/** A wait, open or over: then with how it ended. */
export const WaitRecord = Schema.Struct({
  ...PendingWait.fields,
  ...subject,
  waitResult: Schema.optionalKey(Schema.Struct({
    outcome: Schema.Literals(["allow", "deny", "result", "error", "expired", "cancelled"]),
    by: Schema.optionalKey(Principal),
    reason: Schema.optionalKey(Schema.String),
    output: Schema.optionalKey(Schema.Unknown)
  })),
  resolvedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Wait" })
export type WaitRecord = typeof WaitRecord.Type

/** What stands in line waits for: a turn for its place among those that run, or one of its calls for its own. */
export const WaitingFor = Schema.Literals(["turn_slot", "call_slot"]).annotate({
  description: "[ext] The turn, or a call of it, stands in line, since as many run at once as one workspace may have on a node. It goes on by itself."
})
export type WaitingFor = typeof WaitingFor.Type

export const BudgetSpend = Schema.Struct({
  generatedAt: Timestamp,
  spent: Schema.Finite,
  window: BudgetWindow
}).annotate({ identifier: "BudgetSpend" })
export type BudgetSpend = typeof BudgetSpend.Type

export const ThreadDetail = Schema.Struct({
  lastSeq: Schema.Int,
  model: Schema.optionalKey(Schema.String),
  status: ThreadStatus,
  updatedAt: Timestamp,
  thread: Thread,
  budgetSpend: BudgetSpend,
  inFlightWaitIds: Schema.Array(Schema.String),
  pendingWaits: Schema.Array(PendingWait),
  queued: Schema.Array(QueuedMessage),
  /** Since when it has been set aside with its turn undone, because it broke whatever was tried. Until a command wakes it. */
  quarantinedAt: Schema.optionalKey(Timestamp),
  waitingFor: Schema.optionalKey(WaitingFor),
  usage: ModelUsage
}).annotate({ identifier: "ThreadDetail" })
export type ThreadDetail = typeof ThreadDetail.Type
