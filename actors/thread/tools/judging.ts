/** Roles, the schema of its input and what people have approved judge a call; a name that calls nothing is told why. */
import { Effect } from "effect"
import type { Failure } from "../../../src/domain/failure.ts"
import { mapErrorNow } from "../../../src/now.ts"
import { type CompiledRole, evaluateRoles } from "../../../src/roles/evaluate.ts"
import type { Schemas } from "../../../src/tools/Schemas.ts"
import { mayRunAgain } from "../../../src/tools/Tool.ts"
import type { Toolsets } from "../../../src/tools/Toolsets.ts"
import type { Away } from "../../../src/toolsets/status.ts"
import type { RepliedCall, Verdict } from "../../../machines/thread/commands.ts"
import type { Carry } from "../../../machines/thread/context.ts"
import type { Unreachable } from "../../Actor.ts"
import { unreachable } from "../../live.ts"
import type { CallBy } from "../settings.ts"
import { isReadOnly, type Offer, type TurnOffers } from "./offers.ts"
import { type ToolRun, unknownTool } from "./toolkit.ts"

const denied = (text: string): Failure => ({ code: "tool_denied", text })
const invalid = (text: string): Failure => ({ code: "tool_input_invalid", text })

const awayFailure = ({ reason, status }: Away): Failure => ({
  code: status === "unauthorized" ? "toolset_unauthorized" : "toolset_unreachable",
  text: `The toolset's tools are not known${reason === undefined ? "" : `: ${reason}`}.`
})

/** What a person is asked for stands for every grant that wants their word: one text, which the thread remembers. */
const approvalOf = (grants: ReadonlyArray<string>) => grants.join(" ")
const covers = (approval: string | undefined, grant: string) => approval?.split(" ").includes(grant) === true

/** Those of the grants that want a person's word about this call, and were not given it for the whole thread. */
const unapproved = ({ approvals = [] }: Carry, tool: string, grants: ReadonlyArray<string> = []) =>
  grants.filter((grant) => !approvals.some((approval) => approval.tool === tool && covers(approval.by, grant)))

interface Judging {
  readonly offers: TurnOffers
  readonly rolesNow: Effect.Effect<ReadonlyArray<CompiledRole>, Unreachable>
  readonly schemas: Pick<Schemas["Service"], "misfit">
  readonly toolsets: Pick<Toolsets["Service"], "away">
  readonly toolsetIds: ReadonlyArray<string>
  readonly workspace: string
}

export const makeJudging = ({ offers, rolesNow, schemas, toolsetIds, toolsets, workspace }: Judging) => {
  /** Why nothing can be called by a name. What was never listed may be there all the same: its server is away. */
  const absent = (name: string): Effect.Effect<Failure, Unreachable> => {
    if (offers.named.has(name)) return Effect.succeed(unknownTool(name))
    return Effect.map(mapErrorNow(toolsets.away(workspace, toolsetIds, name), unreachable), (away) =>
      away === undefined ? unknownTool(name) : awayFailure(away)
    )
  }

  const inputFailure = ({ inputSchema }: Offer, input: unknown): Effect.Effect<Failure | undefined> =>
    schemas.misfit(workspace, inputSchema, input).pipe(
      Effect.map((problem) => (problem === undefined ? undefined : invalid(problem))),
      Effect.catch(({ message }) => Effect.succeed(invalid(`the input was not checked: ${message}`)))
    )

  const verdictOf = Effect.fnUntraced(function* (
    roles: ReadonlyArray<CompiledRole>,
    { carry }: CallBy,
    { input, name }: Omit<RepliedCall, "verdict">,
    unchecked?: string
  ): Effect.fn.Return<Verdict, Unreachable> {
    const tool = offers.find(name, carry)
    if (tool === undefined) return { refused: yield* absent(name) }
    const verdict = evaluateRoles(offers.rolesOf(tool, roles), { name, input, readOnly: isReadOnly(tool) })
    if (verdict.decision === "deny") return { refused: denied(verdict.reason) }
    const failure = unchecked === undefined ? yield* inputFailure(tool, input) : invalid(unchecked)
    if (failure !== undefined) return { refused: failure }
    const wanted = unapproved(carry, name, verdict.approvals)
    return {
      rerunnable: mayRunAgain(tool),
      ...(tool.kind === "built-in" ? {} : { toolsetId: tool.toolsetId }),
      ...(wanted.length === 0 ? {} : { approval: approvalOf(wanted) }),
      ...(tool.kind === "client" ? { client: { timeoutMs: tool.timeoutMs } } : {})
    }
  })

  /**
   * The tool of a call that may go ahead now: an approval may be a day old, and a hook may have put another input
   * in place.
   */
  const ready = Effect.fnUntraced(function* (
    { carry }: CallBy,
    { approved, input, name }: Pick<ToolRun, "name" | "input" | "approved">
  ) {
    const tool = offers.find(name, carry)
    if (tool === undefined) return { failure: yield* absent(name) }
    // First, since it may have to wait: roles are asked as they are after that.
    const failure = yield* inputFailure(tool, input)
    const verdict = evaluateRoles(offers.rolesOf(tool, yield* rolesNow), { name, input, readOnly: isReadOnly(tool) })
    if (verdict.decision === "deny") return { failure: denied(verdict.reason) }
    if (unapproved(carry, name, verdict.approvals).some((grant) => !covers(approved, grant)))
      return { failure: denied("a role wants an approval of this input") }
    return failure === undefined ? { tool } : { failure }
  })

  return { ready, verdictOf }
}
