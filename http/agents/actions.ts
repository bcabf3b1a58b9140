/** What may park of agents: to read one, and to create, change and archive one. */
import { Effect, Schema } from "effect"
import { AgentInput, AgentPatch } from "../../src/agents/agent.ts"
import { Directory } from "../../src/agents/Directory.ts"
import {
  type AgentPatchRefusal,
  archiveAgent,
  type ArchivedProfile,
  createAgent,
  type NoProfile,
  type NotThere,
  patchAgent,
  readAgent,
  type StoredAgent
} from "../../src/agents/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { shardOf } from "../../src/journal/shard.ts"
import { disableAll } from "../../src/subscriptions/enlisting.ts"
import { defineAction } from "../actions/defineAction.ts"
import { refuseBody } from "../badInput.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makeQuotaCheck } from "../quotas.ts"
import { emptyAnswer, jsonAnswer } from "../writes.ts"

const answer = ({ agent, rev }: StoredAgent) => jsonAnswer({ agent }, 200, { etag: etag(rev) })

const noAgent = new Refused({ error: "not_found", message: "no such agent" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the agent has changed since" })
const archived = new Refused({ error: "agent_archived", message: "the agent is archived and cannot be changed" })

const notThere = ({ refused }: NotThere) => (refused === "not_found" ? noAgent : changed)
const unfitProfile = (unfit: NoProfile | ArchivedProfile) =>
  unfit.refused === "profile_archived"
    ? new Refused({ error: "profile_archived", message: "profileId: the profile is archived" })
    : new Refused({
        error: "profile_not_found",
        message:
          unfit.version === undefined ? "profileId: no such profile" : "profileVersion: no such version of the profile"
      })

const refusal = (refused: AgentPatchRefusal) => {
  switch (refused.refused) {
    case "not_found":
    case "precondition":
      return notThere(refused)
    case "archived":
      return archived
    case "no_profile":
    case "profile_archived":
      return unfitProfile(refused)
    case "invalid":
      return refuseBody(refused.cause)
  }
}

const One = Schema.Struct({ agentId: Schema.String })
/** As the header says it. */
const ifMatch = Schema.optionalKey(Schema.String)
const ChangeOfOne = Schema.Struct({ agentId: Schema.String, ifMatch, patch: AgentPatch })
const ArchiveOfOne = Schema.Struct({ agentId: Schema.String, ifMatch })
const agentOf = (_: string, { agentId }: { readonly agentId: string }) => Effect.succeed(agentId)

export const makeAgentActions = Effect.gen(function* () {
  const database = yield* Database
  const directory = yield* Directory
  const lease = yield* Lease
  const bus = yield* Bus
  const roomFor = yield* makeQuotaCheck
  /** By the request that archives: the subscriptions that it has told. */
  const disabled = new WeakMap<object, ReadonlyArray<string>>()

  return {
    create: defineAction({
      name: "agent.create",
      params: AgentInput,
      scope: "write",
      way: {
        type: "change",
        change: async (tx, { workspace }, input) => {
          const full = await roomFor(tx, workspace, "agents")
          if (full !== undefined) return full
          const made = await createAgent(tx, workspace, input, lease.now())
          if ("refused" in made) return unfitProfile(made)
          return jsonAnswer({ agent: made.agent }, 201, {
            location: `/v1/agents/${made.agent.id}`,
            etag: etag(made.rev)
          })
        }
      }
    }),

    read: defineAction({
      name: "agent.read",
      params: One,
      scope: "read",
      agentOf,
      // Itself an agent sees whatever its roles say: its lease does (contract C6.14).
      tool: ({ agentId }, own) => (agentId === own ? undefined : { name: "agents.get", input: { agentId } }),
      way: {
        type: "read",
        read: ({ workspace }, { agentId }) =>
          Effect.flatMap(
            database.run("agents.get", (db) => readAgent(db, workspace, agentId)),
            (found) => (found === undefined ? Effect.fail(noAgent) : Effect.succeed(answer(found)))
          )
      }
    }),

    update: defineAction({
      name: "agent.update",
      params: ChangeOfOne,
      scope: "write",
      agentOf,
      way: {
        type: "change",
        change: async (tx, { workspace }, { agentId, ifMatch, patch }) => {
          const patched = await patchAgent(tx, workspace, agentId, patch, meets(ifMatch), lease.now())
          return "refused" in patched ? refusal(patched) : answer(patched)
        },
        changed: ({ workspace }, { agentId }) => directory.forget(workspace, agentId)
      }
    }),

    archive: defineAction({
      name: "agent.archive",
      params: ArchiveOfOne,
      scope: "write",
      agentOf,
      way: {
        type: "change",
        change: async (tx, { workspace }, params) => {
          const { agentId, ifMatch } = params
          const refused = await archiveAgent(tx, workspace, agentId, meets(ifMatch), lease.now())
          if (refused !== undefined) return notThere(refused)
          disabled.set(params, await disableAll(tx, workspace, { agentId }))
          return emptyAnswer
        },
        changed: ({ workspace }, params) => {
          directory.forget(workspace, params.agentId)
          for (const id of disabled.get(params) ?? []) bus.wake(shardOf(id))
        }
      }
    })
  }
})
