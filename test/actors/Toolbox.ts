/**
 * Tools and hooks of test worlds: `once` must not run twice, `often` may, `ask` is the client's to
 * answer, `risky` wants a person's approval, `forbidden` is denied. Tools take two seconds, hooks one.
 */
import { Effect } from "effect"
import {
  emptyToolkit,
  hooksAbout,
  type Toolkit,
  type BuiltInOutcome,
  type ToolRun,
  type Tools,
  unknownTool
} from "../../actors/thread/tools/toolkit.ts"
import type { Plan, Verdict } from "../../machines/thread/commands.ts"
import { asyncTimeoutOf, type Hook, type HookData, onTimeoutOf } from "../../src/domain/hook.ts"
import type { Input } from "../../src/domain/input.ts"
import type { HookRuling } from "../../src/hooks/Hooks.ts"
import type { HookQuestion } from "../../src/hooks/question.ts"
import type { MemoryStore } from "../../src/journal/MemoryStore.ts"
import { againstQuestion, againstRun } from "./witness.ts"

/** What tools and hooks see of a test world, and leave in it. */
export interface Stage {
  readonly store: MemoryStore
  plan: Plan
  hooks: ReadonlyArray<Hook>
  /** What hooks were asked about, by delivery. */
  readonly questions: Map<string, HookData>
  /** Questions that came to their end. */
  decided: number
  /** Runs of our tools, by call. */
  readonly runs: Map<string, number>
  /** Runs that came to their end. */
  finished: number
  readonly complaints: Array<string>
}

const grant = "role_r/0"
const verdicts: Readonly<Record<string, Verdict>> = {
  once: { rerunnable: false },
  often: { rerunnable: true },
  ask: { rerunnable: false, client: { timeoutMs: 10_000 }, toolsetId: "tset_client" },
  risky: { rerunnable: false, approval: grant },
  forbidden: { refused: { code: "tool_denied", text: "No role allows it." } }
}

const ran = (world: Stage, { input, name, toolCallId }: ToolRun) =>
  Effect.suspend(() => {
    const runs = (world.runs.get(toolCallId) ?? 0) + 1
    world.complaints.push(...againstRun(world.store, toolCallId, name === "risky" ? grant : undefined))
    world.runs.set(toolCallId, runs)
    if (name !== "often" && runs > 1) world.complaints.push(`${toolCallId} ran again`)
    return Effect.delay(
      Effect.sync((): BuiltInOutcome => {
        world.finished++
        return { output: { ran: name, with: input } }
      }),
      "2 seconds"
    )
  })

export const toolsOf = (world: Stage): Tools => {
  const toolkit: Toolkit = {
    ...emptyToolkit,
    hooks: world.hooks,
    verdicts: (_, calls) => Effect.succeed(calls.map(({ name }) => verdicts[name] ?? { refused: unknownTool(name) })),
    refusal: () => Effect.succeed(undefined),
    run: (by, asked, begun) => {
      begun()
      if (["once", "often", "risky"].includes(asked.name)) return ran(world, asked)
      world.complaints.push(`${asked.name} ran`)
      return emptyToolkit.run(by, asked, begun)
    }
  }
  return { toolkit: () => Effect.succeed(toolkit) }
}

/**
 * A hook that answers what its name says: `allow`, `deny`, `ask`, `defer`, with `rewrite` or `failed` behind it. A
 * client's asks.
 */
export const hook = (name: string, point: Hook["point"], more: Partial<Hook> = {}): Hook => ({
  id: `hook_${point}_${name}`,
  name,
  point,
  processor: { type: "url", url: "https://hooks.example/" },
  enabled: true,
  ...more
})

export const rewrites = {
  before_turn_start: { content: [{ type: "text" as const, text: "/say rewritten" }] },
  before_tool_call: { toolInput: { rewritten: true } },
  after_tool_result: { toolOutput: "redacted" },
  after_model_response: { content: [{ type: "text" as const, text: "redacted" }] }
}

const decisions = ["allow", "deny", "ask", "defer"] as const

export const evaluateIn =
  (world: Stage) =>
  ({ data, deliveryId, hook }: HookQuestion): Effect.Effect<HookRuling> =>
    Effect.suspend(() => {
      const isClient = hook.processor.type === "client"
      const decision = isClient ? "ask" : (decisions.find((one) => hook.name.startsWith(one)) ?? "allow")
      world.questions.set(deliveryId, data)
      world.complaints.push(...againstQuestion(world.store, deliveryId, data))
      const outcome: HookRuling = {
        ...(decision === "ask"
          ? {
              decision,
              ask: {
                target: isClient ? "client" : "person",
                timeoutMs: asyncTimeoutOf(hook),
                onTimeout: onTimeoutOf(hook)
              }
            }
          : { decision }),
        latencyMs: isClient ? 0 : 1_000,
        deliveryId,
        ...(hook.name.includes("rewrite") ? { rewrite: rewrites[hook.point] } : {}),
        ...(hook.name.includes("failed") ? { failed: true as const } : {})
      }
      const decided = Effect.sync(() => {
        world.decided++
        return outcome
      })
      return isClient ? decided : Effect.delay(decided, 1_000)
    })

/** How an input would run in this world. */
export const admissionIn = (world: Stage, { content, mode, model }: Pick<Input, "content" | "mode" | "model">) => {
  const opening = hooksAbout(world.hooks, { point: "before_turn_start", content, submitMode: mode }, {})
  return {
    plan: {
      ...world.plan,
      ...(model === undefined ? {} : { models: [model] }),
      ...(world.hooks.length === 0 ? {} : { hooked: true as const })
    },
    ...(opening.length === 0 ? {} : { opening })
  }
}
