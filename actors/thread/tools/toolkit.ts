/**
 * A turn's toolkit knows what the turn may call and who judges it. It is made once from the turn's plan, and asked for
 * every response, call and result after that.
 *
 * B1. A toolkit is the plan's: the version of the profile and the catalogues that were current when the turn
 *     was admitted. Roles are asked as they are now: when a response comes, and again right before a run.
 * B2. A tool that was not revealed cannot be called, and a tool that no role could ever allow is not shown.
 */
import { type CompactionSettings, defaultCompaction } from "../../../src/domain/compactionSettings.ts"
import type { ModelSettings } from "../../../src/domain/modelSettings.ts"
import { Effect } from "effect"
import type { Beside } from "../../../src/domain/beside.ts"
import { type Hook, type HookData, matching } from "../../../src/domain/hook.ts"
import type { ToolReveal } from "../../../src/domain/event.ts"
import type { Failure } from "../../../src/domain/failure.ts"
import type { ModelUsage } from "../../../src/domain/usage.ts"
import type { ToolDefinition } from "../../../src/models/Model.ts"
import type { Progress } from "../../../src/tools/Tool.ts"
import type { Plan, RepliedCall, Verdict } from "../../../machines/thread/commands.ts"
import type { Snapshot } from "../../../machines/thread/chart.ts"
import type { Turn } from "../../../machines/thread/context.ts"
import type { Job } from "../../../machines/thread/draft.ts"
import type { ActorView } from "../../Kind.ts"
import type { Unreachable } from "../../Actor.ts"
import type { CallBy, ThreadSettings } from "../settings.ts"

export interface BuiltInOutcome {
  readonly output?: unknown
  readonly beside?: Beside
  readonly failure?: Failure
  readonly reveal?: ToolReveal
  readonly usage?: ModelUsage
}

export type ToolRun = Extract<Job, { readonly type: "runTool" }>["params"]

export interface Toolkit {
  readonly systemPrompt?: string
  /** How the profile has its models write. */
  readonly sampling?: ModelSettings
  /** When its conversations are summarised. */
  readonly compaction: CompactionSettings
  /** All hooks of the profile: their places are their indices. */
  readonly hooks: ReadonlyArray<Hook>
  /** What the model is shown. */
  readonly definitions: (by: CallBy) => Effect.Effect<ReadonlyArray<ToolDefinition>, Unreachable>
  /** What stands behind the calls of a response, in their order. */
  readonly verdicts: (
    by: CallBy,
    calls: ReadonlyArray<Omit<RepliedCall, "verdict">>
  ) => Effect.Effect<ReadonlyArray<Verdict>, Unreachable>
  /** What is wrong with an input or an output by the tool's own schema, if anything. */
  readonly problem: (
    name: string,
    what: "input" | "output",
    value: unknown
  ) => Effect.Effect<string | undefined, Unreachable>
  /**
   * Why a call may not go ahead, as it is by now: asked of one that a client executes, which nothing else would ask
   * about.
   */
  readonly refusal: (
    by: CallBy,
    call: Pick<ToolRun, "name" | "input" | "approved">
  ) => Effect.Effect<Failure | undefined, Unreachable>
  /** Whether a tool does nothing but wait for another agent's turn. */
  readonly asksAgent: (name: string) => boolean
  /**
   * Runs a call, if it still may go ahead; `begun` says that it does, `progressed` how it goes. Fails only before: what
   * fails after that is an outcome.
   */
  readonly run: (
    by: CallBy,
    run: ToolRun,
    begun: () => void,
    progressed?: (progress: Progress) => void
  ) => Effect.Effect<BuiltInOutcome, Unreachable>
}

export interface Tools {
  readonly toolkit: (workspace: string, plan: Plan) => Effect.Effect<Toolkit, Unreachable>
}

/** The toolkit of a thread's turn. */
export type ToolkitOf = (being: ActorView<Snapshot>, turn: Turn) => Effect.Effect<Toolkit, Unreachable>

export const toolkitIn =
  (tools: Tools): ToolkitOf =>
  ({ ref }, { plan }) =>
    tools.toolkit(ref.workspace, plan)

const quoted = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

export const unknownTool = (name: string): Failure => ({
  code: "tool_not_found",
  text: `There is no tool ${quoted(name)}.`
})

/** Nothing is wrong. */
export const fits = Effect.succeed(undefined)

/** Nothing can be called, and nobody is asked. */
export const emptyToolkit: Toolkit = {
  hooks: [],
  compaction: defaultCompaction,
  definitions: () => Effect.succeed([]),
  verdicts: (_, calls) => Effect.succeed(calls.map(({ name }) => ({ refused: unknownTool(name) }))),
  problem: () => fits,
  asksAgent: () => false,
  refusal: (_, { name }) => Effect.succeed(unknownTool(name)),
  run: (_, { name }) => Effect.succeed({ failure: unknownTool(name) })
}

export const emptyTools: Tools = { toolkit: () => Effect.succeed(emptyToolkit) }

/**
 * Hooks that are asked about this, from a place on. A thread that reviews for another's hook is reviewed by no agent.
 */
export const hooksAbout = (
  hooks: ReadonlyArray<Hook>,
  data: HookData,
  settings: Pick<ThreadSettings, "reviews">,
  from = 0
): ReadonlyArray<number> => {
  if (hooks.length === 0) return []
  const found = matching(hooks, data.point, data, from)
  return settings.reviews === undefined ? found : found.filter((index) => hooks[index]?.processor.type !== "agent")
}

/** Somebody may have to see what tools say before anybody else does. */
export const judgesResults = (hooks: ReadonlyArray<Hook>, { reviews }: Pick<ThreadSettings, "reviews">) =>
  hooks.some(
    ({ enabled, point, processor }) =>
      enabled && point === "after_tool_result" && (reviews === undefined || processor.type !== "agent")
  )

/** Somebody may have to see the model's responses before anybody else does. */
export const judgesResponses = (hooks: ReadonlyArray<Hook>, { reviews }: Pick<ThreadSettings, "reviews">) =>
  hooks.some(
    ({ enabled, point, processor }) =>
      enabled && point === "after_model_response" && (reviews === undefined || processor.type !== "agent")
  )

/** The hooks of a command, where there are any. */
export const withHooks = (hooks: ReadonlyArray<number>) => (hooks.length === 0 ? {} : { hooks })
