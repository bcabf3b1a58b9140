/** Agents: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Lease } from "../../src/journal/Lease.ts"
import {
  archiveAgent,
  type ArchivedProfile,
  createAgent,
  listAgents,
  type NoProfile,
  type NotThere,
  patchAgent,
  type AgentPatchRefusal,
  readAgent,
  type StoredAgent
} from "../../src/agents/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { refuseBody } from "../badInput.ts"
import { makeRoom } from "../quotas.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const answer = ({ agent, rev }: StoredAgent) => json({ agent }, 200, { etag: etag(rev) })

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

export const AgentsHandlers = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const directory = yield* Directory
    const lease = yield* Lease
    const pages = yield* makePages
    const roomFor = yield* makeRoom
    const writes = yield* makeWrites

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { workspace } = yield* Caller
        return yield* writes.post("agents.create", async (tx) => {
          const full = await roomFor(tx, workspace, "agents")
          if (full !== undefined) return full
          const made = await createAgent(tx, workspace, payload, lease.now())
          if ("refused" in made) return unfitProfile(made)
          return jsonAnswer({ agent: made.agent }, 201, {
            location: `/v1/agents/${made.agent.id}`,
            etag: etag(made.rev)
          })
        })
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "agents",
          place: `agents ${workspace}`,
          query,
          filter: { includeArchived: query.includeArchived === undefined ? undefined : String(query.includeArchived) },
          defaults: { includeArchived: "false" },
          fetch: (db, page) =>
            listAgents(db, workspace, { ...page, includeArchived: page.filter.includeArchived === "true" }),
          position: positionOf
        })
        return json({ agents: rows, nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const found = yield* database.run("agents.get", (db) => readAgent(db, workspace, params.agentId))
        return found === undefined ? yield* noAgent : answer(found)
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { workspace } = yield* Caller
        const done = yield* writes.change("agents.update", async (tx) => {
          const patched = await patchAgent(
            tx,
            workspace,
            params.agentId,
            payload,
            meets(headers["if-match"]),
            lease.now()
          )
          return "refused" in patched ? refusal(patched) : patched
        })
        directory.forget(workspace, params.agentId)
        return answer(done)
      }),

      archive: Effect.fnUntraced(function* ({ headers, params }) {
        const { workspace } = yield* Caller
        yield* writes.change("agents.archive", async (tx) => {
          const refused = await archiveAgent(tx, workspace, params.agentId, meets(headers["if-match"]), lease.now())
          return refused && notThere(refused)
        })
        directory.forget(workspace, params.agentId)
        return noContent
      })
    })
  })
)
