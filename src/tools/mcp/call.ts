/**
 * One call of an MCP tool: what may be tried again, and how it ended.
 *
 * Q1. Tried a second time, in a new session, only where the first was not carried out, or where the tool says of itself
 *     that a second time does no harm.
 * Q2. Where nobody can know whether it was carried out, that is what is said: tool_outcome_unknown.
 * Q3. All attempts together have the tool's time, which progress begins anew (`patience.ts`). A result that came in
 *     time is not late for having to wait until it is checked.
 */
import { Effect } from "effect"
import { mayRunAgain, type Progress, type Tool, type ToolOutcome, ownName } from "../Tool.ts"
import type { GivenLease } from "../../keys/AgentLeases.ts"
import type { McpFailure } from "./McpFailure.ts"
import { failedOutcome, outcomeOf } from "./outcome.ts"
import { patiently } from "./patience.ts"
import { tellingOf } from "./progress.ts"
import type { Schemas } from "../Schemas.ts"
import type { McpServer, Sessions } from "./Sessions.ts"

interface Call {
  readonly workspace: string
  readonly tool: Tool
  readonly server: McpServer
  readonly input: unknown
  readonly toolCallId: string
  /** What the server gets with the call, to ask this installation with. */
  readonly lease: GivenLease | undefined
  /** Hears how its last try ended: by a failure, or by an answer. */
  readonly onTried?: (failure: McpFailure | undefined) => void
  /** Told of what its server reports, now and then. */
  readonly progressed?: ((progress: Progress) => void) | undefined
}

/** Of the protocol: "method not found" and "invalid params", which servers answer for a tool that they do not have. */
const unknownTool = new Set([-32601, -32602])

const isAgain = ({ opening, reason }: McpFailure, tool: Tool) =>
  reason === "session" || (reason === "lost" && (opening === true || mayRunAgain(tool)))

/**
 * A server answers so where there is nothing, or nothing any more; with another 4xx, in a new session too, it does not
 * like the call.
 */
const isAway = (status: number | undefined) => status === undefined || status === 404 || status === 410

const outcomeOfFailure = ({ message, opening, reason, status }: McpFailure, tool: Tool): ToolOutcome => {
  if (opening === true && reason !== "unauthorized") return failedOutcome("toolset_unreachable", message)
  switch (reason) {
    case "unauthorized":
      return failedOutcome("toolset_unauthorized", message)
    case "timeout":
      return failedOutcome("tool_timeout", message)
    case "lost":
      return mayRunAgain(tool)
        ? failedOutcome("toolset_unreachable", message)
        : failedOutcome("tool_outcome_unknown", `${message}: the tool may or may not have done its work`)
    case "unasked":
    case "unreachable":
      return failedOutcome("toolset_unreachable", message)
    case "session":
      return failedOutcome(isAway(status) ? "toolset_unreachable" : "tool_error", message)
    case "refused":
    case "broken":
      return failedOutcome("tool_error", message)
  }
}

export const callTool = (
  sessions: Sessions["Service"],
  schemas: Schemas["Service"],
  call: Call
): Effect.Effect<ToolOutcome> => {
  const { input, lease, onTried = () => {}, progressed = () => {}, server, tool, toolCallId, workspace } = call
  const once = (report: (progress: Progress) => void) =>
    sessions.use(workspace, tool.toolsetId, server, (session) =>
      session.call(tool, { input, toolCallId, lease }, report)
    )

  /** A server that says no may simply not have the tool any more: its list tells. */
  const isGone = sessions
    .use(workspace, tool.toolsetId, server, (session) => session.list)
    .pipe(
      Effect.map(({ offers }) => !offers.some(({ name }) => name === ownName(tool))),
      Effect.catch(() => Effect.succeed(false))
    )

  /** Yields the check of the answer, to be made when the call's time counts no longer (Q3). */
  const attempts = (report: (progress: Progress) => void) =>
    once(report).pipe(
      Effect.catchIf(
        (failure) => isAgain(failure, tool),
        () => once(report)
      ),
      Effect.tapError((failure) => Effect.sync(() => onTried(failure))),
      Effect.tap(() => Effect.sync(() => onTried(undefined))),
      Effect.map((result) => outcomeOf(schemas, workspace, result, tool)),
      Effect.catch((failure) =>
        failure.rpcCode !== undefined && unknownTool.has(failure.rpcCode)
          ? Effect.map(isGone, (gone) =>
              Effect.succeed(
                gone
                  ? failedOutcome("tool_not_found", "the toolset's server does not have this tool any more")
                  : outcomeOfFailure(failure, tool)
              )
            )
          : Effect.succeed(Effect.succeed(outcomeOfFailure(failure, tool)))
      )
    )

  return Effect.suspend(() => {
    const telling = tellingOf(progressed)
    const inTime = patiently(
      tool.timeoutMs,
      (renew) =>
        attempts((progress) => {
          renew()
          telling.report(progress)
        }),
      (why) => Effect.succeed(Effect.succeed(failedOutcome("tool_timeout", why)))
    )
    return Effect.flatten(Effect.ensuring(inTime, Effect.sync(telling.end)))
  })
}
