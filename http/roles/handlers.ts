/** Roles: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { limits } from "../../src/domain/limits.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { compileRole, deniesAll } from "../../src/roles/evaluate.ts"
import { explain } from "../../src/roles/explain.ts"
import { Roles } from "../../src/roles/Roles.ts"
import type { Db } from "../../src/database/handle.ts"
import { Database } from "../../src/database/Database.ts"
import { readProfile } from "../../src/agents/profileRows.ts"
import {
  createRole,
  deleteRole,
  listRoles,
  type NotChangeable,
  patchRole,
  readRole,
  readRoles,
  type StoredRole
} from "../../src/roles/rows.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { refuseBody } from "../badInput.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const answer = ({ rev, role }: StoredRole) => json({ role }, 200, { etag: etag(rev) })

const noRole = new Refused({ error: "not_found", message: "no such role" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the role has changed since" })
const builtIn = new Refused({
  error: "permission_denied",
  code: "built_in_role",
  message: "a built-in role cannot be changed or deleted"
})
const inUse = new Refused({
  error: "role_in_use",
  message: "the latest version of a profile lists the role, or a version that an agent is pinned to"
})
const full = new Refused({
  error: "too_many_roles",
  message: `a workspace has at most ${limits.rolesPerWorkspace} roles beside the built-in ones: delete one first`
})
const noProfile = new Refused({ error: "profile_not_found", message: "profileId: no such profile" })

const archivedProfile = new Refused({ error: "profile_archived", message: "profileId: the profile is archived" })

const notChangeable = ({ refused }: NotChangeable) =>
  refused === "not_found" ? noRole : refused === "built_in" ? builtIn : changed

/**
 * Roles by name must be there; one that a profile lists and that is not there any more denies, as it does in a turn.
 */
const askedRoles = async (
  db: Db,
  workspace: string,
  question: { readonly roleIds?: ReadonlyArray<string>; readonly profileId?: string }
) => {
  const profile = question.profileId === undefined ? undefined : await readProfile(db, workspace, question.profileId)
  if (question.profileId !== undefined && profile === undefined) return noProfile
  if (profile?.archivedAt !== undefined) return archivedProfile
  const ids = question.roleIds ?? profile?.roleIds ?? []
  const found = new Map((await readRoles(db, workspace, ids)).map((role) => [role.id, role]))
  const missing = question.roleIds?.findIndex((id) => !found.has(id)) ?? -1
  if (missing !== -1) return new Refused({ error: "role_not_found", message: `roleIds[${missing}]: no such role` })
  return ids.map((id) => {
    const role = found.get(id)
    return role === undefined ? deniesAll(id) : compileRole(role)
  })
}

export const RolesHandlers = HttpApiBuilder.group(
  Api,
  "roles",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const lease = yield* Lease
    const pages = yield* makePages
    const roles = yield* Roles
    const writes = yield* makeWrites

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { principal, workspace } = yield* Caller
        return yield* writes.post("roles.create", async (tx) => {
          const made = await createRole(tx, workspace, payload, principal, lease.now())
          if (made === undefined) return full
          return jsonAnswer({ role: made.role }, 201, { location: `/v1/roles/${made.role.id}`, etag: etag(made.rev) })
        })
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "roles",
          place: `roles ${workspace}`,
          query,
          fetch: (db, page) => listRoles(db, workspace, page),
          position: positionOf
        })
        return json({ roles: rows, nextCursor })
      }),

      evaluate: Effect.fnUntraced(function* ({ payload }) {
        const { workspace } = yield* Caller
        return yield* writes.post("roles.evaluate", async (tx) => {
          const found = await askedRoles(tx, workspace, payload)
          if (found instanceof Refused) return found
          return jsonAnswer(
            explain(found, { name: payload.tool, input: payload.input, readOnly: payload.readOnly ?? false })
          )
        })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const found = yield* database.run("roles.get", (db) => readRole(db, workspace, params.roleId))
        return found === undefined ? yield* noRole : answer(found)
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { workspace } = yield* Caller
        const done = yield* writes.change("roles.update", async (tx) => {
          const patched = await patchRole(
            tx,
            workspace,
            params.roleId,
            payload,
            meets(headers["if-match"]),
            lease.now()
          )
          if (!("refused" in patched)) return patched
          return patched.refused === "invalid" ? refuseBody(patched.cause) : notChangeable(patched)
        })
        roles.forget()
        return answer(done)
      }),

      delete: Effect.fnUntraced(function* ({ headers, params }) {
        const { workspace } = yield* Caller
        yield* writes.change("roles.delete", async (tx) => {
          const refused = await deleteRole(tx, workspace, params.roleId, meets(headers["if-match"]))
          return refused && (refused.refused === "in_use" ? inUse : notChangeable(refused))
        })
        roles.forget()
        return noContent
      })
    })
  })
)
