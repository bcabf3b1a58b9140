/** What reaches a thread's mailbox: the chart's commands without the time, and without what the runtime looks up. */
import type { Command, ModelReplied, RepliedCall, Submit } from "../../machines/thread/commands.ts"

type Without<C, K extends PropertyKey> = C extends unknown ? Omit<C, K> : never

type Late = "at" | "admissions"

/** How a job came out. The verdicts of a response's calls are looked up when it arrives. */
export type Outcome =
  | Without<Extract<Command, { readonly type: "model.failed" | "tool.returned" }>, Late>
  | (Omit<ModelReplied, Late | "calls"> & { readonly calls: ReadonlyArray<Omit<RepliedCall, "verdict">> })

/** Born without a message: nothing happens but the birth. */
export interface BeBorn {
  readonly type: "be born"
}
/** Try the last turn again, if it failed or was cancelled. The content of its first message is looked up. */
export interface Retry {
  readonly type: "retry"
  readonly inputId: string
  readonly principal: Submit["input"]["principal"]
}

type Asked = Without<Extract<Command, { readonly type: "edit" | "remove" | "promote" | "cancel" | "due" | "poison" | "answer" }>, Late>

/** `creating`: the thread begins with it, and the answer is its detail. */
type Submitting = Without<Submit, Late> & { readonly creating?: true }

export type Request = Submitting | Asked | Outcome | Retry | BeBorn

