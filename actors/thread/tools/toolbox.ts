/** The tools of real turns: catalogues of toolsets and the built-in families, under the profile's roles. */
import { Effect } from "effect"
import type { Failure } from "../../../src/domain/failure.ts"
import { mapErrorNow, flatMapNow } from "../../../src/now.ts"
import { evaluateRoles, mayEver, type CompiledRole } from "../../../src/roles/evaluate.ts"
import { Roles } from "../../../src/roles/Roles.ts"
import { Directory, type ResolvedProfile } from "../../../src/agents/Directory.ts"
import type { Away } from "../../../src/toolsets/status.ts"
import { Schemas } from "../../../src/tools/Schemas.ts"
import { mayRunAgain, type Progress, type Tool } from "../../../src/tools/Tool.ts"
import { Toolsets } from "../../../src/tools/Toolsets.ts"
import type { Plan, RepliedCall, Verdict } from "../../../machines/thread/commands.ts"
import type { Carry } from "../../../machines/thread/context.ts"
import { Unreachable } from "../../Actor.ts"
import type { BuiltIn, Family } from "./families/builtIn.ts"
import { type Hidden, isRevealed, rolesOfSearch, searchName, toolSearch } from "./families/search.ts"
import { makeLeasing } from "./leasing.ts"
import { emptyToolkit, fits, type Toolkit, type ToolRun, type Tools, unknownTool } from "./toolkit.ts"
import type { CallBy } from "../settings.ts"

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

/**
 * How long the calls of one response may wait for their schemas together: their thread hears nothing else meanwhile.
 */
const patienceMs = 10_000
const limit = `${patienceMs / 1_000} s`
const impatient = `the input was not checked: the schemas of this response's calls took more than ${limit} together`

const noTools = Effect.succeed<ReadonlyArray<Tool>>([])

/** What a turn may call: a tool of a toolset, or one of the runtime itself. */
type Offer = Tool | BuiltIn

const isReadOnly = ({ annotations }: Offer) => annotations?.readOnlyHint === true

const definitionOf = ({ description, inputSchema, name }: Offer) => ({
  name,
  ...(description === undefined ? {} : { description }),
  inputSchema
})

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

/** What is shown from the start comes first, and what a search may reveal last: prompts change at their end only. */
const offersOf = (
  tools: ReadonlyArray<Tool>,
  open: ReadonlyArray<BuiltIn>,
  { families, tools: found }: Hidden,
  search: BuiltIn
): ReadonlyArray<Offer> => {
  const hidden = [...families.flatMap(({ tools }) => tools), ...found]
  return [
    ...tools.filter(({ exposure }) => exposure === "always"),
    ...open,
    ...(hidden.length === 0 ? [] : [search]),
    ...hidden
  ]
}

export const makeTools = (families: ReadonlyArray<Family>) =>
  Effect.gen(function* () {
    const directory = yield* Directory
    const roles = yield* Roles
    const schemas = yield* Schemas
    const toolsets = yield* Toolsets
    const leaseOf = yield* makeLeasing

    const toolkitOf = (workspace: string, profile: ResolvedProfile, tools: ReadonlyArray<Tool>): Toolkit => {
      const { compaction, hooks, roleIds, sampling, systemPrompt, toolsetIds } = profile
      const known = {
        hooks,
        compaction,
        ...(sampling === undefined ? {} : { sampling }),
        ...(systemPrompt === undefined ? {} : { systemPrompt })
      }
      const rolesNow = Effect.mapError(roles.of(workspace, roleIds), unreachable)
      const own = families.filter(({ name }) => profile.families?.includes(name))
      const isOpen = profile.familyExposure === "always"
      const open = isOpen ? own.flatMap(({ tools }) => tools) : []
      const hidden: Hidden = {
        families: isOpen ? [] : own,
        tools: tools.filter(({ exposure }) => exposure === "search")
      }
      const offers = offersOf(tools, open, hidden, toolSearch(hidden, rolesNow))
      if (offers.length === 0 && toolsetIds.length === 0) return { ...emptyToolkit, ...known }
      const named = new Map(offers.map((tool) => [tool.name, tool]))

      const shown = new Set<Offer>(open)
      const isShown = (tool: Offer, { reveals }: Carry) => shown.has(tool) || isRevealed(tool, reveals)

      const find = (name: string, carry: Carry) => {
        const tool = named.get(name)
        return tool !== undefined && isShown(tool, carry) ? tool : undefined
      }

      /** Why nothing can be called by a name. What was never listed may be there all the same: its server is away. */
      const absent = (name: string): Effect.Effect<Failure, Unreachable> => {
        if (named.has(name)) return Effect.succeed(unknownTool(name))
        return Effect.map(mapErrorNow(toolsets.away(workspace, toolsetIds, name), unreachable), (away) =>
          away === undefined ? unknownTool(name) : awayFailure(away)
        )
      }

      const rolesOf = ({ name }: Offer, asked: ReadonlyArray<CompiledRole>) =>
        name === searchName ? rolesOfSearch(hidden, asked) : asked

      const inputFailure = ({ inputSchema }: Offer, input: unknown): Effect.Effect<Failure | undefined> =>
        schemas.misfit(workspace, inputSchema, input).pipe(
          Effect.map((problem) => (problem === undefined ? undefined : invalid(problem))),
          Effect.catch(({ message }) => Effect.succeed(invalid(`the input was not checked: ${message}`)))
        )

      const verdictOf = Effect.fnUntraced(function* (
        asked: ReadonlyArray<CompiledRole>,
        { carry }: CallBy,
        { input, name }: Omit<RepliedCall, "verdict">,
        unchecked?: string
      ): Effect.fn.Return<Verdict, Unreachable> {
        const tool = find(name, carry)
        if (tool === undefined) return { refused: yield* absent(name) }
        const verdict = evaluateRoles(rolesOf(tool, asked), { name, input, readOnly: isReadOnly(tool) })
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
        const tool = find(name, carry)
        if (tool === undefined) return { failure: yield* absent(name) }
        // First, since it may have to wait: roles are asked as they are after that.
        const failure = yield* inputFailure(tool, input)
        const verdict = evaluateRoles(rolesOf(tool, yield* rolesNow), { name, input, readOnly: isReadOnly(tool) })
        if (verdict.decision === "deny") return { failure: denied(verdict.reason) }
        if (unapproved(carry, name, verdict.approvals).some((grant) => !covers(approved, grant)))
          return { failure: denied("a role wants an approval of this input") }
        return failure === undefined ? { tool } : { failure }
      })

      const run = Effect.fnUntraced(function* (
        by: CallBy,
        asked: ToolRun,
        begun: () => void,
        progressed?: (progress: Progress) => void
      ) {
        const { failure, tool } = yield* ready(by, asked)
        if (tool === undefined) return { failure }
        const { input, toolCallId } = asked
        begun()
        return yield* tool.kind === "built-in"
          ? tool.run({ ...by, memory: profile.memory }, input, toolCallId)
          : toolsets.call(workspace, tool, input, toolCallId, { progressed, lease: leaseOf(by, asked.turnId) })
      })

      return {
        ...known,
        definitions: ({ carry }) =>
          Effect.map(rolesNow, (asked) =>
            offers
              .filter(
                (tool) =>
                  isShown(tool, carry) && mayEver(rolesOf(tool, asked), { name: tool.name, readOnly: isReadOnly(tool) })
              )
              .map(definitionOf)
          ),
        verdicts: Effect.fnUntraced(function* (by, calls) {
          const asked = yield* rolesNow
          const verdicts: Array<Verdict> = []
          const each = Effect.forEach(
            calls,
            (call) => Effect.map(verdictOf(asked, by, call), (verdict) => verdicts.push(verdict)),
            { discard: true }
          )
          yield* Effect.timeoutOption(each, patienceMs)
          for (const call of calls.slice(verdicts.length)) verdicts.push(yield* verdictOf(asked, by, call, impatient))
          return verdicts
        }),
        problem: (name, what, value) => {
          const tool = named.get(name)
          const schema = what === "input" ? tool?.inputSchema : tool?.outputSchema
          return schema === undefined
            ? fits
            : schemas.misfit(workspace, schema, value).pipe(
                // A slow schema is slow tomorrow; all else may be tried again.
                Effect.catch(({ message, reason }) =>
                  reason === "slow" ? Effect.succeed(`was not checked: ${message}`) : Effect.fail(unreachable())
                )
              )
        },
        asksAgent: (name) => {
          const tool = named.get(name)
          return tool?.kind === "built-in" && tool.asksAgent
        },
        refusal: (by, asked) => Effect.map(ready(by, asked), ({ failure }) => failure),
        run
      }
    }

    /** Made once for a version of a profile and the catalogues that it is used with, as long as the version is held. */
    const toolkits = new WeakMap<ResolvedProfile, Map<string, Toolkit>>()
    /** The same, for the turn that asks again and again. */
    const known = new WeakMap<Plan, Toolkit>()

    const kitFor = (
      workspace: string,
      profile: ResolvedProfile,
      catalogues: NonNullable<Plan["catalogues"]>,
      tools: ReadonlyArray<Tool>
    ) => {
      const held = toolkits.get(profile) ?? new Map<string, Toolkit>()
      toolkits.set(profile, held)
      const key = catalogues.map(({ id, version }) => `${id}/${version}`).join(" ")
      const toolkit = held.get(key) ?? toolkitOf(workspace, profile, tools)
      // Catalogues change now and then, and turns with the old ones end. An LRUCache for each of thousands of profiles
      // would hold more than the few toolkits in it.
      if (held.size >= 16 && !held.has(key)) held.clear()
      held.set(key, toolkit)
      return toolkit
    }

    const make = (workspace: string, plan: Plan): Effect.Effect<Toolkit, Unreachable> => {
      const { catalogues = [] } = plan
      return flatMapNow(
        mapErrorNow(directory.profile(workspace, plan.profileId, plan.profileVersion), unreachable),
        (profile) => {
          // Versions are never deleted: without one nobody knows who guards the turn.
          if (profile === undefined) return Effect.fail(unreachable())
          const offered =
            catalogues.length === 0 ? noTools : mapErrorNow(toolsets.tools(workspace, catalogues), unreachable)
          return flatMapNow(offered, (offered) => {
            const toolkit = kitFor(workspace, profile, catalogues, offered)
            known.set(plan, toolkit)
            return Effect.succeed(toolkit)
          })
        }
      )
    }

    const tools: Tools = {
      toolkit: (workspace, plan) => {
        const toolkit = known.get(plan)
        return toolkit === undefined ? make(workspace, plan) : Effect.succeed(toolkit)
      }
    }
    return tools
  })
