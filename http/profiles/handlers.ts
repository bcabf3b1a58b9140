/** Profiles: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Profile } from "../../src/agents/profile.ts"
import type { HookInput } from "../../src/domain/hook.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Models } from "../../src/models/Model.ts"
import { unselected } from "../../src/models/unselected.ts"
import { Outbound } from "../../src/outbound/Outbound.ts"
import { Database } from "../../src/database/Database.ts"
import { Directory } from "../../src/agents/Directory.ts"
import type { MissingReference } from "../../src/agents/profileReferences.ts"
import {
  archiveProfile,
  createProfile,
  type CreateRefusal,
  listProfiles,
  listProfileVersions,
  patchProfile,
  type ProfileRefusal,
  readProfile
} from "../../src/agents/profileRows.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { refuseBody, refuseUrl } from "../badInput.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const answer = (profile: Profile) => json({ profile }, 200, { etag: etag(profile.version) })

const noProfile = new Refused({ error: "not_found", message: "no such profile" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the profile has another version" })

const archived = new Refused({ error: "profile_archived", message: "the profile is archived and cannot be changed" })
const inUse = new Refused({ error: "profile_in_use", message: "an agent that is not archived follows the profile" })

const missing = ({ noun, path }: MissingReference) =>
  new Refused({
    error: `${noun}_not_found`,
    message: `${path}: no such ${noun}${noun === "connection" ? " with a signing secret" : ""}`
  })

const invalid = (message: string) => new Refused({ error: "invalid_request", code: "invalid_body", message })

const refuseCreate = (refused: CreateRefusal) =>
  refused.refused === "missing"
    ? missing(refused)
    : invalid(`hooks[${refused.index}].id: not a hook of this profile's latest version`)

const refusal = (refused: ProfileRefusal) => {
  switch (refused.refused) {
    case "missing":
    case "unknown_hook":
      return refuseCreate(refused)
    case "not_found":
      return noProfile
    case "precondition":
      return changed
    case "archived":
      return archived
    case "invalid":
      return refuseBody(refused.cause)
  }
}

export const ProfilesHandlers = HttpApiBuilder.group(
  Api,
  "profiles",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const database = yield* Database
    const directory = yield* Directory
    const lease = yield* Lease
    const models = yield* Models
    const pages = yield* makePages
    const outbound = yield* Outbound
    const writes = yield* makeWrites

    /** The body of a write. */
    const written = (profile: Profile) => {
      const warnings = unselected(models, profile.models)
      return { profile, ...(warnings.length === 0 ? {} : { warnings }) }
    }

    /** What the operator does not allow to be asked, such as http where private networks are closed. */
    const refuseUrls = (hooks: ReadonlyArray<HookInput> | null | undefined) => {
      for (const [i, { processor }] of hooks?.entries() ?? []) {
        const problem = processor.type === "url" ? outbound.refuses(processor.url) : undefined
        if (problem !== undefined) return Effect.fail(refuseUrl(`hooks[${i}].processor.url`, problem))
      }
      return Effect.void
    }

    const read = Effect.fnUntraced(function* (workspace: string, profileId: string, version?: number) {
      const found = yield* database.run("profiles.get", (db) => readProfile(db, workspace, profileId, version))
      return found === undefined ? yield* noProfile : found
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { workspace } = yield* Caller
        return yield* writes.postAfter("profiles.create", refuseUrls(payload.hooks), async (tx) => {
          const profile = await createProfile(tx, workspace, payload, lease.now())
          if ("refused" in profile) return refuseCreate(profile)
          return jsonAnswer(written(profile), 201, {
            location: `/v1/profiles/${profile.id}`,
            etag: etag(profile.version)
          })
        })
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "profiles",
          place: `profiles ${workspace}`,
          query,
          filter: { includeArchived: query.includeArchived === undefined ? undefined : String(query.includeArchived) },
          defaults: { includeArchived: "false" },
          fetch: (db, page) =>
            listProfiles(db, workspace, { ...page, includeArchived: page.filter.includeArchived === "true" }),
          position: positionOf
        })
        return json({ profiles: rows, nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        return answer(yield* read(workspace, params.profileId))
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { workspace } = yield* Caller
        yield* refuseUrls(payload.hooks)
        const profile = yield* writes.change("profiles.update", async (tx) => {
          const patched = await patchProfile(
            tx,
            workspace,
            params.profileId,
            payload,
            meets(headers["if-match"]),
            lease.now()
          )
          return "refused" in patched ? refusal(patched) : patched
        })
        directory.forgetProfile(workspace, params.profileId)
        return json(written(profile), 200, { etag: etag(profile.version) })
      }),

      archive: Effect.fnUntraced(function* ({ headers, params }) {
        const { workspace } = yield* Caller
        yield* writes.change("profiles.archive", async (tx) => {
          const refused = await archiveProfile(tx, workspace, params.profileId, meets(headers["if-match"]), lease.now())
          return (
            refused && (refused.refused === "not_found" ? noProfile : refused.refused === "in_use" ? inUse : changed)
          )
        })
        return noContent
      }),

      versions: Effect.fnUntraced(function* ({ params: { profileId }, query }) {
        const { workspace } = yield* Caller
        const place = `versions ${profileId} ${workspace}`
        const { after } = yield* cursors.open(place, query.cursor, {})
        const before = typeof after?.[0] === "number" ? after[0] : undefined
        const limit = pageSize("profiles", query.limit)
        const found = yield* database.run("profiles.versions", (db) =>
          listProfileVersions(db, workspace, profileId, { before, limit: limit + 1 })
        )
        // Every profile has a version 1: only one that is not there has none.
        if (found.length === 0) return yield* noProfile
        const versions = found.slice(0, limit)
        const nextCursor = found.length > limit ? cursors.seal(place, {}, [versions.at(-1)?.version ?? 1]) : undefined
        return json({ versions, nextCursor })
      }),

      version: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        return answer(yield* read(workspace, params.profileId, Number(params.version)))
      })
    })
  })
)
