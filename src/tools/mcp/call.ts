/**
 * One call of an MCP tool: what may be tried again, and how it ended.
 *
 * Q1. Tried a second time, in a new session, only where the first was not carried out, or where the tool says of itself
 *     that a second time does no harm.
 * Q2. Where nobody can know whether it was carried out, that is what is said: tool_outcome_unknown.
 * Q3. A result that came in time is not late for having to wait until it is checked.
 */
import { Effect } from "effect"
import { mayRunAgain, type Tool, type ToolOutcome } from "../Tool.ts"
import { ownName } from "../catalogue.ts"
import type { McpFailure } from "./McpFailure.ts"
import { failed, outcomeOf } from "./outcome.ts"
import type { Schemas } from "../Schemas.ts"
import type { Server, Sessions } from "./Sessions.ts"

export interface Call {
  readonly workspace: string
  readonly tool: Tool
  readonly server: Server
  readonly input: unknown
  readonly toolCallId: string
}

/** Of the protocol: "method not found" and "invalid params", which servers answer for a tool that they do not have. */
const unknownTool = new Set([-32601, -32602])

const isAgain = ({ reason }: McpFailure, tool: Tool) => reason === "session" || reason === "lost" && mayRunAgain(tool)

const outcomeOfFailure = ({ message, reason }: McpFailure, tool: Tool): ToolOutcome => {
  switch (reason) {
    case "unauthorized":
      return failed("toolset_unauthorized", message)
    case "timeout":
      return failed("tool_timeout", message)
    case "lost":
      return mayRunAgain(tool)
        ? failed("toolset_unreachable", message)
        : failed("tool_outcome_unknown", `${message}: the tool may or may not have done its work`)
    case "unreachable":
    case "session":
      return failed("toolset_unreachable", message)
    case "refused":
    case "broken":
      return failed("tool_error", message)
  }
}

export const callTool = (sessions: Sessions["Service"], schemas: Schemas["Service"], call: Call): Effect.Effect<ToolOutcome> => {
  const { input, server, tool, toolCallId, workspace } = call
  const once = sessions.use(workspace, tool.toolsetId, server, (session) => session.call(tool, input, toolCallId))

  /** A server that says no may simply not have the tool any more: its list tells. */
  const isGone = sessions.use(workspace, tool.toolsetId, server, (session) => session.list).pipe(
    Effect.map(({ offers }) => !offers.some(({ name }) => name === ownName(tool))),
    Effect.catch(() => Effect.succeed(false))
  )

  return once.pipe(
    Effect.catchIf((failure) => isAgain(failure, tool), () => once),
    Effect.map((result) => outcomeOf(schemas, workspace, result, tool)),
    Effect.catch((failure) =>
      failure.rpcCode !== undefined && unknownTool.has(failure.rpcCode)
        ? Effect.map(isGone, (gone) => Effect.succeed(gone ? failed("tool_not_found", "the toolset's server does not have this tool any more") : outcomeOfFailure(failure, tool)))
        : Effect.succeed(Effect.succeed(outcomeOfFailure(failure, tool)))),
    Effect.timeoutOrElse({ duration: tool.timeoutMs, orElse: () => Effect.succeed(Effect.succeed(failed("tool_timeout", `no result within ${tool.timeoutMs} ms`))) }),
    Effect.flatten
  )
}
