/** Profiles and their immutable versions (design, section 9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { idOf } from "../../src/domain/ids.ts"
import { Profile, ProfileInput, ProfilePatch } from "../../src/domain/profile.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag } from "../Validate.ts"

export const ProfileId = idOf("profile")

/** A version's number in a path: what is no such number leads nowhere, as an id of another form does. */
const VersionParam = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,8}$/, { toJsonSchema: () => ({ pattern: "^[1-9]\\d{0,8}$" }) }))

/** What a profile may name that is not there. */
const references = ["role_not_found", "toolset_not_found", "connection_not_found", "agent_not_found"] as const

export const ProfileAnswer = Schema.Struct({ profile: Profile }).annotate({ identifier: "ProfileAnswer" })

export const ProfilePage = Schema.Struct({
  profiles: Schema.Array(Profile),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ProfilePage" })

export const ProfileVersionPage = Schema.Struct({
  versions: Schema.Array(Profile),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ProfileVersionPage" })

export const ProfilesApi = HttpApiGroup.make("profiles").add(
  HttpApiEndpoint.post("create", "/profiles", {
    payload: ProfileInput,
    success: ProfileAnswer.pipe(HttpApiSchema.status(201)),
    error: refuses(...references)
  }).annotateMerge(access("write", { stores: "rows" })).annotateMerge(OpenApi.annotations({
    summary: "Create a profile",
    description: "Model selectors are tried in order. Without `roleIds` it has the built-in role `all_tools`; with an empty list its agents may call no tool. What it names must exist. This is version 1."
  })),
  HttpApiEndpoint.get("list", "/profiles", {
    query: { includeArchived: Schema.optional(flag), limit: limitOf("profiles"), cursor: CursorParam },
    success: ProfilePage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List profiles",
    description: "Newest first, each in its latest version. Archived ones only with `includeArchived=true`."
  })),
  HttpApiEndpoint.get("get", "/profiles/:profileId", {
    params: { profileId: ProfileId },
    success: ProfileAnswer
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "Get a profile",
    description: "Its latest version, also of one that is archived. The ETag stands for the version."
  })),
  HttpApiEndpoint.patch("update", "/profiles/:profileId", {
    params: { profileId: ProfileId },
    headers: IfMatch,
    payload: ProfilePatch,
    success: ProfileAnswer,
    error: refuses("profile_archived", "precondition_failed", ...references)
  }).annotateMerge(access("write", { stores: "rows" })).annotateMerge(OpenApi.annotations({
    summary: "Change a profile",
    description: "JSON Merge Patch (RFC 7396) that makes the next version; one that changes nothing makes none. A list replaces the list: a hook in it that carries its id goes on as that hook."
  })),
  HttpApiEndpoint.delete("archive", "/profiles/:profileId", {
    params: { profileId: ProfileId },
    headers: IfMatch,
    success: HttpApiSchema.NoContent,
    error: refuses("profile_in_use", "precondition_failed")
  }).annotateMerge(access("write")).annotateMerge(OpenApi.annotations({
    summary: "Archive a profile",
    description: "No agent can follow it any more; its versions stay readable, and threads that are pinned to one go on. Refused while an agent that is not archived follows it. Archiving again changes nothing."
  })),
  HttpApiEndpoint.get("versions", "/profiles/:profileId/versions", {
    params: { profileId: ProfileId },
    query: { limit: limitOf("profiles"), cursor: CursorParam },
    success: ProfileVersionPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List the versions of a profile",
    description: "Newest first. Versions never change."
  })),
  HttpApiEndpoint.get("version", "/profiles/:profileId/versions/:version", {
    params: { profileId: ProfileId, version: VersionParam },
    success: ProfileAnswer
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "Get a version of a profile",
    description: "As it was made: versions never change."
  }))
).annotateMerge(OpenApi.annotations({ description: "Reusable agent behaviour profiles, in immutable versions." }))
