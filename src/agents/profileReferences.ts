/**
 * What a profile names beside itself: roles, toolsets, connections of url hooks, agents that review.
 *
 * E1. Looked up in the transaction that writes the profile, and held until it ends, so that nobody takes
 *     away what is being referred to.
 * E2. A name that the version before had already is not looked up again: a profile may be changed after
 *     something that it names has gone, and its turns fail closed.
 */
import { Schema } from "effect"
import { ConnectionKind } from "../connections/connection.ts"
import { fromUuid, type Noun, toUuid } from "../domain/ids.ts"
import type { ProfileContent } from "./profile.ts"
import type { Db } from "../database/handle.ts"
import { missingRole } from "../roles/rows.ts"

/** Something named that is not there, and where it is named. */
export interface MissingReference {
  readonly refused: "missing"
  readonly noun: "role" | "toolset" | "connection" | "agent"
  readonly path: string
}

interface Reference {
  readonly path: string
  readonly id: string
}

const referencesOf = ({ hooks, roleIds, toolsetIds }: ProfileContent) => {
  const listed = (name: string, ids: ReadonlyArray<string>) =>
    ids.map((id, i): Reference => ({ path: `${name}[${i}]`, id }))
  const connections: Array<Reference> = []
  const agents: Array<Reference> = []
  hooks.forEach(({ processor }, i) => {
    if (processor.type === "url" && processor.connectionId !== undefined)
      connections.push({ path: `hooks[${i}].processor.connectionId`, id: processor.connectionId })
    if (processor.type === "agent") agents.push({ path: `hooks[${i}].processor.agentId`, id: processor.agentId })
  })
  return {
    role: listed("roleIds", roleIds),
    toolset: listed("toolsetIds", toolsetIds),
    connection: connections,
    agent: agents
  }
}

type Find = (tx: Db, workspace: string, ids: ReadonlyArray<string>) => Promise<ReadonlySet<string>>

const readKind = Schema.decodeUnknownSync(Schema.Struct({ kind: ConnectionKind }))

const idsOf = (noun: Noun, rows: ReadonlyArray<{ readonly id: string }>) =>
  new Set(rows.map(({ id }) => fromUuid(noun, id)))

const find: { readonly [N in MissingReference["noun"]]: Find } = {
  role: async (tx, workspace, ids) => {
    const missing = await missingRole(tx, workspace, ids)
    return new Set(ids.filter((id) => id !== missing))
  },
  toolset: async (tx, workspace, ids) =>
    idsOf(
      "toolset",
      await tx
        .selectFrom("toolsets")
        .select("id")
        .where("workspace", "=", toUuid(workspace))
        .where("id", "in", ids.map(toUuid))
        .orderBy("id")
        .forKeyShare()
        .execute()
    ),
  // Deliveries are signed with it, which no other kind of secret can do. The kind of one never changes.
  connection: async (tx, workspace, ids) => {
    const rows = await tx
      .selectFrom("connections")
      .select(["id", "body"])
      .where("workspace", "=", toUuid(workspace))
      .where("id", "in", ids.map(toUuid))
      .orderBy("id")
      .forKeyShare()
      .execute()
    return idsOf(
      "connection",
      rows.filter(({ body }) => readKind(body).kind === "signing")
    )
  },
  // One that is archived takes no new threads, so it reviews nothing.
  agent: async (tx, workspace, ids) =>
    idsOf(
      "agent",
      await tx
        .selectFrom("agents")
        .select("id")
        .where("workspace", "=", toUuid(workspace))
        .where("id", "in", ids.map(toUuid))
        .where("archived_at", "is", null)
        .orderBy("id")
        .forKeyShare()
        .execute()
    )
}

const nouns = ["role", "toolset", "connection", "agent"] as const

/** The first that is not there (E1), of those that `before` does not name (E2). */
export const missingReference = async (
  tx: Db,
  workspace: string,
  content: ProfileContent,
  before?: ProfileContent
): Promise<MissingReference | undefined> => {
  const named = referencesOf(content)
  const known = before && referencesOf(before)
  for (const noun of nouns) {
    const held = new Set(known?.[noun].map(({ id }) => id))
    const added = named[noun].filter(({ id }) => !held.has(id))
    if (added.length === 0) continue
    const found = await find[noun](tx, workspace, [...new Set(added.map(({ id }) => id))])
    const missing = added.find(({ id }) => !found.has(id))
    if (missing !== undefined) return { refused: "missing", noun, path: missing.path }
  }
  return undefined
}
