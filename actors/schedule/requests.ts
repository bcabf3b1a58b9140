/** What reaches a schedule's mailbox: the chart's commands without what is looked up when they arrive. */
import { Option, Schema } from "effect"
import { AskedRun } from "../../src/schedules/askedRuns.ts"
import type { ScheduleCommand } from "../../machines/schedule/commands.ts"

const Configure = Schema.Struct({ type: Schema.Literal("configure") })
/** What transactions leave in the inbox: only that something has changed, and what is wanted. */
const InboxRequest = Schema.Union([Configure, AskedRun])

type Without<C> = C extends unknown ? Omit<C, "at"> : never

export type ScheduleRequest =
  | typeof Configure.Type
  | typeof AskedRun.Type
  | Without<ScheduleCommand<"started" | "refused" | "freed">>
  | { readonly type: "due" }
  | { readonly type: "poison" }

const decode = Schema.decodeUnknownOption(InboxRequest)

export const decodeRequest = (sent: unknown): ScheduleRequest | undefined => Option.getOrUndefined(decode(sent))
