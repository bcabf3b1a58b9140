/** Profiles and their immutable versions. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Profile, ProfileInput, ProfilePatch } from "../../src/agents/profile.ts"
import { Warning } from "../../src/domain/warning.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag } from "../parameters.ts"
import { ProfileId } from "../../src/domain/resourceIds.ts"

/** A version's number in a path: what is no such number leads nowhere, as an id of another form does. */
const VersionParam = Schema.String.check(
  Schema.isPattern(/^[1-9]\d{0,8}$/, { toJsonSchema: () => ({ pattern: "^[1-9]\\d{0,8}$" }) })
)

/** What a profile may name that is not there. */
const references = ["role_not_found", "toolset_not_found", "connection_not_found", "agent_not_found"] as const

export const ProfileAnswer = Schema.Struct({ profile: described(Profile, "The profile, in one version.") }).annotate({
  identifier: "ProfileAnswer"
})

/** Of a write: the profile as it is stored, and what of it selects nothing on this server today. */
export const ProfileWritten = Schema.Struct({
  profile: ProfileAnswer.fields.profile,
  warnings: described(
    Schema.optionalKey(Schema.Array(Warning)),
    "Selectors of models that select nothing on this server today: the profile is stored all the same. Absent " +
      "where each one selects something. [ext]"
  )
}).annotate({ identifier: "ProfileWritten" })

export const ProfilePage = Schema.Struct({
  profiles: described(Schema.Array(Profile), "Profiles of this page, newest first, each in its latest version."),
  nextCursor: NextCursor
}).annotate({ identifier: "ProfilePage" })

export const ProfileVersionPage = Schema.Struct({
  versions: described(Schema.Array(Profile), "Versions of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ProfileVersionPage" })

export const ProfilesApi = HttpApiGroup.make("profiles")
  .add(
    HttpApiEndpoint.post("create", "/profiles", {
      payload: ProfileInput,
      success: ProfileWritten.pipe(HttpApiSchema.status(201)),
      error: refuses(...references)
    })
      .annotateMerge(access("write", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a profile",
          description:
            "Model selectors are tried in order. Without `roleIds` it has the built-in role `all_tools`; with an " +
            "empty list its agents may call no tool. What it names must exist, models aside: of a selector that " +
            "selects nothing today `warnings` tells. This is version 1."
        })
      ),
    HttpApiEndpoint.get("list", "/profiles", {
      query: {
        includeArchived: described(
          Schema.optional(flag),
          "Whether archived profiles are listed as well. False when absent."
        ),
        limit: limitOf("profiles"),
        cursor: CursorParam
      },
      success: ProfilePage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List profiles",
          description: "Newest first, each in its latest version. Archived ones only with `includeArchived=true`."
        })
      ),
    HttpApiEndpoint.get("get", "/profiles/:profileId", {
      params: { profileId: ProfileId },
      success: ProfileAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a profile",
          description: "The profile's latest version, archived profiles included. The ETag stands for the version."
        })
      ),
    HttpApiEndpoint.patch("update", "/profiles/:profileId", {
      params: { profileId: ProfileId },
      headers: IfMatch,
      payload: ProfilePatch,
      success: ProfileWritten,
      error: refuses("profile_archived", "precondition_failed", ...references)
    })
      .annotateMerge(access("write", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a profile",
          description:
            "JSON Merge Patch (RFC 7396) that makes the next version; a patch that changes nothing makes none. A " +
            "list replaces the list: a hook in it that carries its id goes on as that hook. `warnings` are as at " +
            "the creation."
        })
      ),
    HttpApiEndpoint.delete("archive", "/profiles/:profileId", {
      params: { profileId: ProfileId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("profile_in_use", "precondition_failed")
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Archive a profile",
          description:
            "No agent can follow it any more; its versions stay readable, and threads that are pinned to one go " +
            "on. Refused while an agent that is not archived follows it. Archiving again changes nothing."
        })
      ),
    HttpApiEndpoint.get("versions", "/profiles/:profileId/versions", {
      params: { profileId: ProfileId },
      query: { limit: limitOf("profiles"), cursor: CursorParam },
      success: ProfileVersionPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the versions of a profile",
          description: "Newest first. Versions never change."
        })
      ),
    HttpApiEndpoint.get("version", "/profiles/:profileId/versions/:version", {
      params: { profileId: ProfileId, version: described(VersionParam, "Which version: they are numbered from 1.") },
      success: ProfileAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a version of a profile",
          description: "As it was made: versions never change."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Reusable agent behaviour profiles, in immutable versions." }))
