/** What reaches a schedule's mailbox: the chart's commands without what is looked up when they arrive. */
import { Option, Schema } from "effect"
import { idOf } from "../../src/domain/ids.ts"
import type { ScheduleCommand } from "../../machines/schedule/commands.ts"

const Configure = Schema.Struct({ type: Schema.Literal("configure") })
const Run = Schema.Struct({
  type: Schema.Literal("run"),
  runId: idOf("scheduleRun"),
  scheduledAt: Schema.Int,
  hops: Schema.optionalKey(Schema.Int)
})

/** What transactions leave in the inbox: only that something has changed, and what is wanted. */
const Told = Schema.Union([Configure, Run])

type Without<C> = C extends unknown ? Omit<C, "at"> : never

export type ScheduleRequest =
  | typeof Configure.Type
  | typeof Run.Type
  | Without<ScheduleCommand<"started" | "refused" | "freed">>
  | { readonly type: "due" }
  | { readonly type: "poison" }

const decode = Schema.decodeUnknownOption(Told)

export const decodeRequest = (sent: unknown): ScheduleRequest | undefined => Option.getOrUndefined(decode(sent))
