/**
 * The agent that a development server has from its first start, on the scripted model. It may do everything, but a new
 * title for a thread wants a person's approval: so the first approval needs no configuration.
 */
import { demoAgent, demoProfile, demoRole } from "../domain/demo.ts"
import { toUuid } from "../domain/ids.ts"
import { profileContentOf } from "../agents/profile.ts"
import type { Db } from "../database/handle.ts"
import { allTools } from "../roles/role.ts"

const role = {
  name: "demo",
  description: "A new title for a thread wants a person's approval",
  allow: [{ tools: "thread.rename", approval: "required" }],
  deny: []
}

const profile = profileContentOf({
  name: "demo",
  description: "Follows the script in each message; see the scripted model in the documentation",
  models: ["troupe/scripted"],
  families: ["thread"],
  familyExposure: "always",
  roleIds: [allTools.id, demoRole]
})

/** Makes what is missing of them, in a transaction of the caller's. `workspace` is `wsp_…`. */
export const ensureDemo = async (db: Db, workspaceId: string) => {
  const workspace = toUuid(workspaceId)
  const at = new Date()
  const keys = { workspace, id: toUuid(demoProfile) }
  await db
    .insertInto("roles")
    .values({
      workspace,
      id: toUuid(demoRole),
      name: role.name,
      body: JSON.stringify(role),
      rev: 1,
      created_by: JSON.stringify({ type: "user", id: "troupe" }),
      created_at: at,
      updated_at: at
    })
    .onConflict((c) => c.doNothing())
    .execute()
  await db
    .insertInto("profiles")
    .values({ ...keys, version: 1, created_at: at })
    .onConflict((c) => c.doNothing())
    .execute()
  await db
    .insertInto("profile_versions")
    .values({ workspace, profile: keys.id, version: 1, body: JSON.stringify(profile), created_at: at })
    .onConflict((c) => c.doNothing())
    .execute()
  await db
    .insertInto("agents")
    .values({
      workspace,
      id: toUuid(demoAgent),
      profile: keys.id,
      profile_version: null,
      identity: null,
      body: JSON.stringify({ name: "demo", description: "A scripted agent to try things on" }),
      rev: 1,
      created_at: at,
      updated_at: at,
      archived_at: null
    })
    .onConflict((c) => c.doNothing())
    .execute()
}
