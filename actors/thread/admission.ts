/**
 * How an input would run if it were admitted now: asked for every input that waits, each time a
 * command might admit one, so it must be answered from memory.
 */
import { Effect } from "effect"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { Models } from "../../src/models/Model.ts"
import { Directory } from "../../src/store/Directory.ts"
import type { Admission, Plan } from "../../machines/thread/commands.ts"
import { Unreachable } from "../Actor.ts"

/** What is fixed at a thread's birth and a turn depends on. */
export interface ThreadSettings {
  readonly workspace: string
  readonly agentId: string
  readonly identity?: string
  readonly model?: string
  readonly profileVersion?: number
}

export interface Wanting {
  readonly principal: Principal
  readonly model?: string
}

export type AdmissionOf = (thread: ThreadSettings, input: Wanting) => Effect.Effect<Admission, Unreachable>

const refuse = (code: Failure["code"], text: string): Admission => ({ refused: { code, text } })

export const makeAdmission = Effect.gen(function*() {
  const directory = yield* Directory
  const models = yield* Models

  const of: AdmissionOf = Effect.fnUntraced(function*(thread, input) {
    const agent = yield* directory.agent(thread.workspace, thread.agentId)
    if (agent === undefined || agent.archived) return refuse("agent_archived", "The agent was archived.")
    for (const identity of [thread.identity, agent.identity, input.principal.identity]) {
      if (identity !== undefined && directory.identityDisabled(thread.workspace, identity)) {
        return refuse("identity_disabled", "An identity that this input acts for is disabled.")
      }
    }
    const profile = thread.profileVersion === undefined || thread.profileVersion === agent.profile.version
      ? agent.profile
      : yield* directory.profile(thread.workspace, agent.profileId, thread.profileVersion)
    if (profile === undefined) return refuse("internal", "The profile version that the thread is pinned to does not exist.")
    const wanted = input.model ?? thread.model
    const exact = (wanted === undefined ? profile.models : [wanted]).flatMap((selector) => models.resolve(selector))
    if (exact.length === 0) {
      return refuse("model_unavailable", `No model is available for ${(wanted === undefined ? profile.models : [wanted]).join(", ")}.`)
    }
    const plan: Plan = {
      profileId: profile.profileId,
      profileVersion: profile.version,
      models: [...new Set(exact)],
      maxSteps: profile.limits.maxSteps,
      maxTurnMs: profile.limits.maxTurnSeconds * 1000,
      maxParallelTools: profile.limits.maxParallelTools
    }
    return { plan }
  }, Effect.catchTag("DatabaseUnavailable", () => Effect.fail(new Unreachable({ retryAfterSeconds: 2 }))))

  return of
})

