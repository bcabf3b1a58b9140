/** Thread detail, Queued message and pending wait (contract C14.3, C15.4, C19.1). */
import { Schema } from "effect"
import { besideFields } from "./beside.ts"
import { ContentBlock, MessageContent, SubmitMode } from "./content.ts"
import { described } from "./described.ts"
import { FinishReason, HookPoint, HookProcessorType } from "./event.ts"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"
import { ModelUsage } from "./usage.ts"

export const threadStatuses = ["running", "awaiting", "idle", "failed", "cancelled"] as const
export const ThreadStatus = Schema.Literals(threadStatuses)
export type ThreadStatus = typeof ThreadStatus.Type

export const BudgetWindow = Schema.Literals(["24h", "7d", "total"])
export type BudgetWindow = typeof BudgetWindow.Type

export const Thread = Schema.Struct({
  id: described(Schema.String, "Id of the thread."),
  agentId: described(Schema.String, "Agent that works in the thread."),
  workspaceId: described(Schema.String, "Workspace that the thread belongs to."),
  createdAt: described(Timestamp, "When the thread was made."),
  updatedAt: described(Timestamp, "When title, metadata or maxCost last changed."),
  createdBy: described(Principal, "Who made the thread."),
  updatedBy: described(Principal, "Who last changed title, metadata or maxCost."),
  identity: described(
    Schema.optionalKey(Schema.String),
    "Identity that the thread works for. While that is disabled the thread gets no new work."
  ),
  maxCost: described(Schema.optionalKey(Schema.Finite), "USD that the thread may cost in all. Absent: no limit."),
  title: described(Schema.optionalKey(Schema.String), "The thread's title, for people."),
  metadata: described(Schema.optionalKey(Schema.Record(Schema.String, Schema.String)), "Pairs for your own use."),
  model: described(
    Schema.optionalKey(Schema.String),
    "Model that was asked for when the thread was made. Absent: its profile's."
  ),
  profileId: described(
    Schema.optionalKey(Schema.String),
    "Profile that the thread is pinned to, whatever its agent follows. Absent: it follows its agent."
  ),
  profileVersion: described(
    Schema.optionalKey(Schema.Int),
    "Version of the profile that the thread is pinned to. Absent: it follows its agent."
  ),
  archivedAt: described(
    Schema.optionalKey(Timestamp),
    "Since when the thread takes no input. Absent while it does. [ext]"
  ),
  askedBy: described(
    Schema.optionalKey(
      Schema.Struct({
        threadId: described(Schema.String, "Thread of the agent that asks."),
        toolCallId: described(Schema.String, "The call of `agents.ask` there.")
      })
    ),
    "The call that asked for the thread. Only where another agent did. [ext]"
  ),
  reviews: described(
    Schema.optionalKey(
      Schema.Struct({
        threadId: described(Schema.String, "Thread that is judged."),
        hookId: described(Schema.String, "The hook that asks."),
        deliveryId: described(Schema.String, "Id of the delivery that asks the hook, which its decision has as well.")
      })
    ),
    "The hook that the thread judges for, and the thread that is judged. Only where it judges. [ext]"
  )
}).annotate({ identifier: "Thread" })
export type Thread = typeof Thread.Type

export const QueuedMessage = Schema.Struct({
  id: described(Schema.String, "The inputId of the queue's paths."),
  content: described(MessageContent, "The message."),
  queuedAt: described(Timestamp, "When the message was submitted."),
  submitMode: described(SubmitMode, "How the message was submitted, or promoted since."),
  turnId: described(Schema.String, "Turn that the message begins, or joins."),
  principal: described(Principal, "Whose words these are: who sent the message, or edited it last."),
  submittedBy: described(Schema.optionalKey(Principal), "Who sent it first, where that is somebody else. [ext]"),
  model: described(Schema.optionalKey(Schema.String), "Model that was asked for with the message. [ext]")
}).annotate({ identifier: "QueuedMessage" })
export type QueuedMessage = typeof QueuedMessage.Type

export const PendingWait = Schema.Struct({
  id: described(Schema.String, "Id of the wait."),
  turnId: described(Schema.String, "Turn that is parked on it."),
  type: described(
    Schema.Literals(["client_tool", "hook_ask", "role_approval"]),
    "Kind of the answer: the result of a client's tool, or a decision that a hook or a role asks for."
  ),
  state: described(
    Schema.Literals(["open", "resolved", "expired", "cancelled"]),
    "Whether it still waits, and what became of it."
  ),
  target: described(Schema.Literals(["person", "client", "url", "agent"]), "Who is expected to answer."),
  expiresAt: described(Schema.optionalKey(Timestamp), "Until when it can be answered."),
  hookId: described(Schema.optionalKey(Schema.String), "The hook that asks. Absent for others."),
  point: described(Schema.optionalKey(HookPoint), "Where in the turn the question came up."),
  processor: described(
    Schema.optionalKey(HookProcessorType),
    "Who was asked first: an endpoint, another agent, or a client."
  ),
  reason: described(Schema.optionalKey(Schema.String), "Why a person is asked, in words for people."),
  toolCallId: described(Schema.optionalKey(Schema.String), "The call that it is about."),
  toolInput: described(Schema.optionalKey(Schema.Unknown), "Input of the call, as the model gave it."),
  toolName: described(Schema.optionalKey(Schema.String), "The tool that is called, as `namespace.tool`."),
  toolsetId: described(Schema.optionalKey(Schema.String), "Toolset of the tool. Absent for built-in tools.")
}).annotate({ identifier: "PendingWait" })
export type PendingWait = typeof PendingWait.Type

/** What a hook asks about, beside the call: shown to those who may decide, while the wait is open. */
const subject = {
  content: described(
    Schema.optionalKey(Schema.Array(ContentBlock)),
    "Content that a hook asks about: the message at `before_turn_start`, the text at `after_model_response`, " +
      "which is empty for a response of calls only."
  ),
  toolOutput: described(
    Schema.optionalKey(Schema.Unknown),
    "Output of the tool that a hook asks about at `after_tool_result`."
  ),
  ...besideFields,
  failureCode: described(
    Schema.optionalKey(Schema.String),
    "Failure of the call that a hook asks about at `after_tool_result`."
  )
}
const WaitSubject = Schema.Struct(subject)
export type WaitSubject = typeof WaitSubject.Type

/** A wait, open or over: then with how it ended. */
export const WaitRecord = Schema.Struct({
  ...PendingWait.fields,
  ...subject,
  waitResult: described(
    Schema.optionalKey(
      Schema.Struct({
        outcome: described(
          Schema.Literals(["allow", "deny", "result", "error", "expired", "cancelled"]),
          "`expired`: nobody answered in time. `cancelled`: the turn was stopped. The others are answers."
        ),
        by: described(Schema.optionalKey(Principal), "Who answered. Absent when nobody did."),
        reason: described(Schema.optionalKey(Schema.String), "Why, in words for people."),
        output: described(Schema.optionalKey(Schema.Unknown), "Output of the tool.")
      })
    ),
    "How it ended. Absent while it is open."
  ),
  resolvedAt: described(Schema.optionalKey(Timestamp), "When it ended. Absent while it is open.")
}).annotate({ identifier: "Wait" })
export type WaitRecord = typeof WaitRecord.Type

/** What stands in line waits for: a turn for its place among those that run, or one of its calls for its own. */
export const WaitingFor = Schema.Literals(["turn_slot", "call_slot"]).annotate({
  description:
    "[ext] The turn, or a call of it, stands in line, since as many run at once as one workspace may have on a " +
    "node. It goes on by itself."
})
export type WaitingFor = typeof WaitingFor.Type

export const BudgetSpend = Schema.Struct({
  generatedAt: described(Timestamp, "When this was added up."),
  spent: described(Schema.Finite, "USD that the agent has spent on models in the window."),
  window: described(BudgetWindow, "Time that is summed: the budget's window, or the last 24 hours without a budget.")
}).annotate({ identifier: "BudgetSpend" })
export type BudgetSpend = typeof BudgetSpend.Type

export const LastTurn = Schema.Struct({
  turnId: described(Schema.String, "Id of the turn, also while it runs."),
  finishReason: described(
    FinishReason,
    "Why the model stopped before its newest answer was whole, also where it wrote calls only, or nothing: " +
      "`length` where it reached a limit of tokens, `content_filter` where the provider's filter stopped it."
  )
}).annotate({ identifier: "LastTurn" })

export const ThreadDetail = Schema.Struct({
  lastSeq: described(Schema.Int, "Seq of the newest event of the log; 0 before the first."),
  model: described(
    Schema.optionalKey(Schema.String),
    "Model selected by the latest admitted turn, including queued work."
  ),
  status: described(ThreadStatus, "Status of the thread: whether a turn runs or is parked, or how the last one ended."),
  updatedAt: described(Timestamp, "When the thread last did anything."),
  thread: described(Thread, "The thread itself."),
  budgetSpend: described(BudgetSpend, "Spending of the thread's agent, in all its threads."),
  inFlightWaitIds: described(Schema.Array(Schema.String), "Ids of all open waits, in the order of `pendingWaits`."),
  pendingWaits: described(Schema.Array(PendingWait), "Open waits that the turn is parked on."),
  queued: described(Schema.Array(QueuedMessage), "Inputs that wait, in the order in which they would run."),
  quarantinedAt: described(
    Schema.optionalKey(Timestamp),
    "Since when the thread has been set aside with its turn undone, because it broke whatever was tried. The " +
      "next message or cancel wakes it. [ext]"
  ),
  waitingFor: Schema.optionalKey(WaitingFor),
  lastTurn: described(
    Schema.optionalKey(LastTurn),
    "The newest turn, where the model has cut its newest answer. Absent where the answer is whole. [ext]"
  ),
  usage: described(ModelUsage, "Total billable model usage, including context compaction.")
}).annotate({ identifier: "ThreadDetail" })
export type ThreadDetail = typeof ThreadDetail.Type
