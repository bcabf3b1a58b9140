/**
 * The profile that a thread runs under: the one that it is pinned to, by id and version, whatever its agent follows
 * later; else the one that its agent follows. Threads pinned by earlier versions know the version only: it is one of
 * the profile that their agent has now.
 */
import { Effect } from "effect"
import type { DatabaseUnavailable } from "../database/Database.ts"
import type { AgentView, Directory, ResolvedProfile } from "../agents/Directory.ts"

export interface Pinned {
  readonly profileId?: string
  readonly profileVersion?: number
}

/** Undefined where the pinned version does not exist. */
export const profileOf = (
  directory: Pick<Directory["Service"], "profile">,
  workspace: string,
  agent: AgentView,
  { profileId = agent.profileId, profileVersion }: Pinned
): Effect.Effect<ResolvedProfile | undefined, DatabaseUnavailable> =>
  profileVersion === undefined || (profileVersion === agent.profile.version && profileId === agent.profileId)
    ? Effect.succeed(agent.profile)
    : directory.profile(workspace, profileId, profileVersion)
