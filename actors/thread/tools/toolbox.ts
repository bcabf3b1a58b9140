/** The tools of real turns: catalogues of toolsets and the built-in families, under the profile's roles. */
import { Effect } from "effect"
import { mapErrorNow, flatMapNow } from "../../../src/now.ts"
import { mayEver } from "../../../src/roles/evaluate.ts"
import { Roles } from "../../../src/roles/Roles.ts"
import { Directory, type ResolvedProfile } from "../../../src/agents/Directory.ts"
import { Schemas } from "../../../src/tools/Schemas.ts"
import type { Progress, Tool } from "../../../src/tools/Tool.ts"
import { Toolsets } from "../../../src/tools/Toolsets.ts"
import type { Plan, Verdict } from "../../../machines/thread/commands.ts"
import type { Unreachable } from "../../Actor.ts"
import { unreachable } from "../../live.ts"
import type { Family } from "./builtIn.ts"
import { makeJudging } from "./judging.ts"
import { makeLeasing } from "./leasing.ts"
import { isReadOnly, makeOffers, type Offer } from "./offers.ts"
import { emptyToolkit, fits, type Toolkit, type ToolRun, type Tools } from "./toolkit.ts"
import type { CallBy } from "../settings.ts"

/**
 * How long the calls of one response may wait for their schemas together: their thread hears nothing else meanwhile.
 */
const patienceMs = 10_000
const limit = `${patienceMs / 1_000} s`
const impatient = `the input was not checked: the schemas of this response's calls took more than ${limit} together`

const noTools = Effect.succeed<ReadonlyArray<Tool>>([])

const definitionOf = ({ description, inputSchema, name }: Offer) => ({
  name,
  ...(description === undefined ? {} : { description }),
  inputSchema
})

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
      const offers = makeOffers(families, profile, tools, rolesNow)
      if (offers.all.length === 0 && toolsetIds.length === 0) return { ...emptyToolkit, ...known }
      const { ready, verdictOf } = makeJudging({ offers, rolesNow, schemas, toolsetIds, toolsets, workspace })

      const run = Effect.fnUntraced(function* (
        by: CallBy,
        toolRun: ToolRun,
        begun: () => void,
        progressed?: (progress: Progress) => void
      ) {
        const { failure, tool } = yield* ready(by, toolRun)
        if (tool === undefined) return { failure }
        const { input, toolCallId } = toolRun
        begun()
        return yield* tool.kind === "built-in"
          ? tool.run({ ...by, memory: profile.memory }, input, toolCallId)
          : toolsets.call(workspace, tool, input, toolCallId, { progressed, lease: leaseOf(by, toolRun.turnId) })
      })

      return {
        ...known,
        definitions: ({ carry }) =>
          Effect.map(rolesNow, (held) =>
            offers.all
              .filter(
                (tool) =>
                  offers.isShown(tool, carry) &&
                  mayEver(offers.rolesOf(tool, held), { name: tool.name, readOnly: isReadOnly(tool) })
              )
              .map(definitionOf)
          ),
        verdicts: Effect.fnUntraced(function* (by, calls) {
          const held = yield* rolesNow
          const verdicts: Array<Verdict> = []
          const each = Effect.forEach(
            calls,
            (call) => Effect.map(verdictOf(held, by, call), (verdict) => verdicts.push(verdict)),
            { discard: true }
          )
          yield* Effect.timeoutOption(each, patienceMs)
          for (const call of calls.slice(verdicts.length)) verdicts.push(yield* verdictOf(held, by, call, impatient))
          return verdicts
        }),
        problem: (name, what, value) => {
          const tool = offers.named.get(name)
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
          const tool = offers.named.get(name)
          return tool?.kind === "built-in" && tool.asksAgent
        },
        refusal: (by, toolRun) => Effect.map(ready(by, toolRun), ({ failure }) => failure),
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
      if (held.size === 0) toolkits.set(profile, held)
      const key = catalogues.map(({ id, version }) => `${id}/${version}`).join(" ")
      const made = held.get(key)
      if (made !== undefined) return made
      const toolkit = toolkitOf(workspace, profile, tools)
      // Catalogues change now and then, and turns with the old ones end. An LRUCache for each of thousands of profiles
      // would hold more than the few toolkits in it.
      if (held.size >= 16) held.clear()
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
