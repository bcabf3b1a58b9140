/** What reaches a thread's mailbox: the chart's commands without the time, and without what the runtime looks up. */
import type {
  AnswerWait,
  Command,
  Edit,
  HookDecided,
  ModelReplied,
  PromptLong,
  RepliedCall,
  Submit,
  SummaryFailed,
  SummaryMade,
  ToolReturned
} from "../../machines/thread/commands.ts"

type Without<C, K extends PropertyKey> = C extends unknown ? Omit<C, K> : never

type Late = "at" | "admissions" | "refused" | "queuedMs"

/** How a job came out. What stands behind a response's calls, and who judges what, is looked up when it arrives. */
export type Outcome =
  | Without<Extract<Command, { readonly type: "model.failed" }>, Late>
  | Without<PromptLong | SummaryMade | SummaryFailed, Late>
  | Without<ToolReturned | HookDecided, Late | "hooks" | "calls">
  | (Omit<ModelReplied, Late | "calls" | "hooks"> & { readonly calls: ReadonlyArray<Omit<RepliedCall, "verdict">> })

/** Born without a message: nothing happens but the birth. It never leaves its node. */
export interface Create {
  readonly type: "create"
}
/**
 * Try the last turn again, if it failed or was cancelled. The content of its first message is looked up, and so is the
 * model that it named.
 */
export interface Retry extends Fresh, Choosing {
  readonly type: "retry"
  readonly inputId: string
  readonly principal: Submit["input"]["principal"]
}

type Passed = Without<
  Extract<Command, { readonly type: "remove" | "promote" | "cancel" | "compact" | "archive" | "due" | "poison" }>,
  Late | "calls"
>

/**
 * The id of the input was made for this request alone, which is sent for the first time: nobody can have taken it
 * before, and the journal need not be asked. Whoever derives ids, or cannot tell, leaves it out.
 */
interface Fresh {
  readonly fresh?: true
}

/**
 * Whoever asks may name the models that the profile selects, and no other: a model that the input names is looked at.
 * Absent where the sender may name any, where no model is named, and from a node of an earlier version, which does not
 * look.
 */
interface Choosing {
  readonly profileModels?: true
}

/** `creating`: the thread begins with it, and the answer is its detail. */
type Submitting = Without<Submit, Late> & Fresh & Choosing & { readonly creating?: true }

/** An edited input keeps its model, with the editor's words: so the editor must be one who may name it. */
type Editing = Without<Edit, Late> & Choosing

/** Somebody's answer to a wait. `from` is the thread that the agent acts in, where one answers. */
type Resolve = Omit<AnswerWait, Late | "hooks" | "calls"> & { readonly from?: string }

export type ThreadRequest = Submitting | Editing | Passed | Outcome | Retry | Create | Resolve

/** The request of that type. */
export type Of<T extends ThreadRequest["type"]> = Extract<ThreadRequest, { readonly type: T }>
