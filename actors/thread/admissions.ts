/**
 * An admission says how an input would run if it were admitted now. It is asked for of every input that waits, each
 * time a command might admit one, so it must be answered from memory.
 */
import { Effect } from "effect"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { pricesOf } from "../../src/models/prices.ts"
import { isSelected, selectorsOf, targetsOf } from "../../src/models/choice.ts"
import { Models } from "../../src/models/Model.ts"
import { mapErrorNow, flatMapNow } from "../../src/now.ts"
import { Directory, type ResolvedProfile } from "../../src/agents/Directory.ts"
import { profileOf } from "../../src/threads/pinnedProfile.ts"
import type { Admission, Plan } from "../../machines/thread/commands.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import { settingsOf, type ThreadSettings } from "./settings.ts"
import { type ToolkitOf, hooksAbout } from "./tools/toolkit.ts"

export interface Wanting {
  readonly principal: Principal
  readonly content: MessageContent
  readonly mode: SubmitMode
  readonly model?: string
}

export type AdmissionOf = (thread: ThreadSettings, input: Wanting) => Effect.Effect<Admission, Unreachable>

/** Whether the thread's profile selects the model, or the models, that a selector means. */
export type Selects = (thread: ThreadSettings, selector: string) => Effect.Effect<boolean, Unreachable>

const refuse = (code: Failure["code"], text: string): Admission => ({ refused: { code, text } })

/** `catalogues`: those that a turn admitted now would use, from memory wherever possible. */
export const makeAdmission = Effect.fn("makeAdmission")(function* (
  catalogues: (
    workspace: string,
    toolsetIds: ReadonlyArray<string>
  ) => Effect.Effect<NonNullable<Plan["catalogues"]>, Unreachable>
) {
  const directory = yield* Directory
  const models = yield* Models
  const prices = pricesOf(models.list)

  const planned = (
    thread: ThreadSettings,
    input: Wanting,
    profile: ResolvedProfile,
    isCapped: boolean
  ): Effect.Effect<Admission, Unreachable> => {
    const selectors = selectorsOf(profile, thread, input)
    const available = targetsOf(models, selectors)
    if (available.length === 0)
      return Effect.succeed(refuse("model_unavailable", `No model is available for ${selectors.join(", ")}.`))
    // Nobody could say what it costs.
    const exact = isCapped ? available.filter((id) => prices.of(id) !== "unknown") : available
    if (exact.length === 0)
      return Effect.succeed(
        refuse("model_not_priced", `Under a budget only models with a known price run: ${available.join(", ")}.`)
      )
    const { compaction, hooks, limits, profileId, toolsetIds, version } = profile
    const [summariser] =
      compaction.model === undefined
        ? []
        : models.resolve(compaction.model).filter((id) => !isCapped || prices.of(id) !== "unknown")
    const mayAsk = summariser === undefined ? exact : [...exact, summariser]
    const plan: Plan = {
      profileId,
      profileVersion: version,
      models: exact,
      maxSteps: limits.maxSteps,
      maxTurnMs: limits.maxTurnSeconds * 1000,
      maxParallelTools: limits.maxParallelTools,
      ...(summariser === undefined ? {} : { summariser }),
      ...(mayAsk.some((id) => prices.of(id) === "priced") ? { priced: true } : {}),
      ...(hooks.some(({ enabled }) => enabled) ? { hooked: true } : {})
    }
    const opening = hooksAbout(
      hooks,
      { point: "before_turn_start", content: input.content, submitMode: input.mode },
      thread
    )
    const admitted = (plan: Plan): Admission => ({ plan, ...(opening.length === 0 ? {} : { opening }) })
    return toolsetIds.length === 0
      ? Effect.succeed(admitted(plan))
      : flatMapNow(catalogues(thread.workspace, toolsetIds), (catalogues) =>
          Effect.succeed(admitted({ ...plan, catalogues }))
        )
  }

  const admissionOf: AdmissionOf = (thread, input) =>
    flatMapNow(mapErrorNow(directory.agent(thread.workspace, thread.agentId), unreachable), (agent) => {
      if (agent === undefined || agent.archived)
        return Effect.succeed(refuse("agent_archived", "The agent was archived."))
      for (const identity of [thread.identity, agent.identity, input.principal.identity]) {
        if (identity !== undefined && directory.identityDisabled(thread.workspace, identity)) {
          return Effect.succeed(refuse("identity_disabled", "An identity that this input acts for is disabled."))
        }
      }
      return flatMapNow(mapErrorNow(profileOf(directory, thread.workspace, agent, thread), unreachable), (profile) =>
        profile === undefined
          ? Effect.succeed(refuse("internal", "The profile version that the thread is pinned to does not exist."))
          : planned(thread, input, profile, agent.limit !== undefined || thread.maxCost !== undefined)
      )
    })

  const selects: Selects = (thread, selector) =>
    flatMapNow(mapErrorNow(directory.agent(thread.workspace, thread.agentId), unreachable), (agent) =>
      agent === undefined
        ? Effect.succeed(false)
        : flatMapNow(mapErrorNow(profileOf(directory, thread.workspace, agent, thread), unreachable), (profile) =>
            Effect.succeed(profile !== undefined && isSelected(models, profile, selector))
          )
    )

  return { admissionOf, selects }
})

export type Admissions = Readonly<Record<string, Admission>>
const none = Effect.succeed<Admissions>({})

/** How all inputs that wait would run, and a fresh one beside them. */
export type AdmissionsOf = (
  being: ActorView<Snapshot>,
  fresh?: Wanting & Pick<Input, "inputId">
) => Effect.Effect<Admissions, Unreachable>

export const makeAdmissions = (admissionOf: AdmissionOf, toolkitOf: ToolkitOf): AdmissionsOf => {
  /** Hooks of the running turn that its steers have to pass. */
  const joining = (being: ActorView<Snapshot>, admissions: Admissions): Effect.Effect<Admissions, Unreachable> => {
    const { pending, turn } = being.snapshot.context
    if (turn?.plan.hooked !== true) return Effect.succeed(admissions)
    const steers = pending.filter((input) => input.forTurnId === turn.turnId)
    if (steers.length === 0) return Effect.succeed(admissions)
    return flatMapNow(toolkitOf(being, turn), ({ hooks }) => {
      const settings = settingsOf(being)
      const joined = steers.flatMap(({ content, inputId, mode }) => {
        const admission = admissions[inputId]
        const found = hooksAbout(hooks, { point: "before_turn_start", content, submitMode: mode }, settings)
        return admission === undefined || found.length === 0
          ? []
          : [[inputId, { ...admission, joining: found }] as const]
      })
      return Effect.succeed({ ...admissions, ...Object.fromEntries(joined) })
    })
  }

  return (being, fresh) => {
    const { pending } = being.snapshot.context
    if (pending.length === 0 && fresh === undefined) return none
    const settings = settingsOf(being)
    if (fresh !== undefined && pending.length === 0) {
      return flatMapNow(admissionOf(settings, fresh), (admission) => {
        // A plain object would teach the engine a new shape for every id.
        const admissions: Record<string, Admission> = Object.create(null)
        admissions[fresh.inputId] = admission
        return Effect.succeed(admissions)
      })
    }
    const inputs = fresh === undefined ? pending : [...pending, fresh]
    return Effect.flatMap(
      Effect.forEach(inputs, (input) => admissionOf(settings, input)),
      (admissions) => joining(being, Object.fromEntries(inputs.map((input, i) => [input.inputId, admissions[i]!])))
    )
  }
}
