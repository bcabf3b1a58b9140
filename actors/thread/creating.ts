/** How a thread comes to be: what its agent, its profile and its identities have to be, and what it is born with. */
import { Effect } from "effect"
import type { Directory } from "../../src/agents/Directory.ts"
import type { AgentView } from "../../src/agents/agentCache.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { isSelected } from "../../src/models/choice.ts"
import type { Models } from "../../src/models/Model.ts"
import { mapErrorNow } from "../../src/now.ts"
import { freshId } from "../../src/seed.ts"
import type { ThreadAttributes } from "../../src/threads/detail.ts"
import { profileOf } from "../../src/threads/pinnedProfile.ts"
import { type ActorError, Declined, type Reply } from "../Actor.ts"
import type { Envelope } from "../envelope.ts"
import { unreachable } from "../live.ts"
import type { Birth } from "../Registry.ts"
import { notInProfile } from "./replies/refusals.ts"
import type { ThreadRequest } from "./requests.ts"
import { attributesText } from "./settings.ts"
import { threadRef, withOrigin } from "./sending.ts"
import type { NewThread, ThreadCaller } from "./Threads.ts"

interface Creating {
  readonly directory: Directory["Service"]
  readonly models: Models["Service"]
  readonly agentOf: (workspace: string, agentId: string) => Effect.Effect<AgentView | undefined, ActorError>
  /** Why a workspace may have no thread more, if so. */
  readonly refuseBirth: (workspace: string) => Effect.Effect<never, Declined> | undefined
  readonly newId: () => string
  readonly register: (
    ref: ActorRef,
    birth: Birth,
    envelope: Envelope<ThreadRequest>
  ) => Effect.Effect<Reply, ActorError>
}

export const makeCreate = ({ agentOf, directory, models, newId, refuseBirth, register }: Creating) => {
  return Effect.fnUntraced(function* (caller: ThreadCaller, { agentId, message, ...thread }: NewThread) {
    const { principal, workspace } = caller
    yield* refuseBirth(workspace) ?? Effect.void
    const agent = yield* agentOf(workspace, agentId)
    if (agent === undefined)
      return yield* new Declined({ reason: "agent_not_found", message: `agentId: there is no agent ${agentId}.` })
    if (agent.archived)
      return yield* new Declined({ reason: "agent_archived", message: "agentId: the agent was archived." })
    const { model, profileVersion } = thread
    const pin = profileVersion === undefined ? {} : { profileId: agent.profileId, profileVersion }
    const profile = yield* mapErrorNow(profileOf(directory, workspace, agent, pin), unreachable)
    if (profile === undefined) {
      return yield* new Declined({
        reason: "profile_not_found",
        message: `profileVersion: the agent's profile has no version ${profileVersion}.`
      })
    }
    if (model !== undefined && models.resolve(model).length === 0) {
      return yield* new Declined({
        reason: "model_unavailable",
        message: `model: no model is available for ${model}.`
      })
    }
    if (model !== undefined && caller.anyModel !== true && !isSelected(models, profile, model))
      return yield* notInProfile()
    for (const identity of [thread.identity, agent.identity, principal.identity]) {
      if (identity !== undefined && directory.identityDisabled(workspace, identity)) {
        return yield* new Declined({
          reason: "identity_disabled",
          message: "An identity that this thread would act for is disabled."
        })
      }
    }
    const attributes: ThreadAttributes = { ...thread, ...pin, createdBy: principal }
    const request: ThreadRequest =
      message === undefined
        ? { type: "create" }
        : {
            type: "submit",
            creating: true,
            fresh: true,
            input: {
              inputId: freshId("input"),
              content: message.content,
              mode: "queue",
              principal: withOrigin(principal, message.origin)
            }
          }
    return yield* register(
      threadRef(workspace, newId()),
      { parent: agentId, attributes: attributesText(attributes) },
      { request, ...(caller.key === undefined ? {} : { key: caller.key }) }
    )
  })
}
