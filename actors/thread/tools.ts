/**
 * The tools that calls can reach. None are registered yet: every name is unknown, and a call of it
 * comes back as `tool_not_found`, so that the model can go on.
 */
import { Effect } from "effect"
import type { Failure } from "../../src/domain/failure.ts"
import type { Verdict } from "../../machines/thread/commands.ts"

export interface ToolOutcome {
  readonly output?: unknown
  readonly failure?: Failure
}

export interface Tools {
  /** What stands behind a name, asked when a response is written down. */
  readonly verdict: (name: string) => Verdict
  /** Runs a call. Never fails: a failure is an outcome. */
  readonly run: (name: string, input: unknown, toolCallId: string) => Effect.Effect<ToolOutcome>
}

const quoted = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

export const noTools: Tools = {
  // Nothing runs, so running it again does no harm.
  verdict: () => ({ rerunnable: true }),
  run: (name) => Effect.succeed({ failure: { code: "tool_not_found", text: `There is no tool ${quoted(name)}.` } })
}
