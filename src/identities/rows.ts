/**
 * Identities as rows: which texts a workspace has seen, since when, and for how many agents.
 *
 * Whether one is disabled is said by its actor's head, when and by whom by the actor's last fact.
 */
import { Option, Schema } from "effect"
import { sql } from "kysely"
import type { IdentityRecord } from "./record.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { identityActorId } from "./actorId.ts"
import { readEvent } from "../journal/storedFact.ts"
import type { Db } from "../database/handle.ts"
import type { Note } from "../database/noted.ts"
import { behind, type Position } from "../database/newestFirst.ts"

/** The text of a fact of an identity: who decided. */
const readDecision = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ by: Principal })))

/** Materialises identities, or moves their last sight on. One statement. */
export const seeIdentities = async (db: Db, seen: ReadonlyArray<Note>): Promise<void> => {
  if (seen.length === 0) return
  await db
    .insertInto("identities")
    .values(
      seen.map(({ workspace, id: identity, at }) => ({
        workspace: toUuid(workspace),
        identity,
        actor: toUuid(identityActorId(workspace, identity)),
        first_seen: new Date(at),
        last_seen: new Date(at)
      }))
    )
    .onConflict((c) =>
      c
        .columns(["workspace", "identity"])
        .doUpdateSet({ last_seen: sql`greatest(identities.last_seen, excluded.last_seen)` })
    )
    .execute()
}

export const seeIdentity = (db: Db, workspace: string, identity: string, at: number) =>
  seeIdentities(db, [{ workspace, id: identity, at }])

const base = (db: Db, workspace: string) =>
  db
    .selectFrom("identities")
    .leftJoin("heads", (join) =>
      join.onRef("heads.workspace", "=", "identities.workspace").onRef("heads.id", "=", "identities.actor")
    )
    .leftJoin("facts", (join) => join.onRef("facts.actor", "=", "heads.id").onRef("facts.pos", "=", "heads.pos"))
    .where("identities.workspace", "=", toUuid(workspace))
    .select((eb) => [
      "identities.identity",
      "identities.actor",
      "identities.first_seen",
      "identities.last_seen",
      "heads.status",
      "facts.at",
      "facts.event",
      eb
        .selectFrom("agents")
        .select(sql<string>`count(*)`.as("n"))
        .whereRef("agents.workspace", "=", "identities.workspace")
        .whereRef("agents.identity", "=", "identities.identity")
        .where("agents.archived_at", "is", null)
        .as("agents")
    ])

interface Row {
  readonly identity: string
  readonly actor: string
  readonly first_seen: Date
  readonly last_seen: Date
  readonly status: string | null
  readonly at: Date | null
  readonly event: string | null
  readonly agents: string | null
}

const recordOf = (row: Row): IdentityRecord => {
  const disabled = row.status === "disabled"
  const decision =
    disabled && row.event !== null ? Option.getOrUndefined(readDecision(readEvent(row.event).event)) : undefined
  return {
    identity: row.identity,
    ...(row.status === null ? {} : { actorId: fromUuid("identity", row.actor) }),
    disabled,
    ...(disabled && row.at !== null && { disabledAt: toTimestamp(row.at.getTime()) }),
    ...(decision !== undefined && { disabledBy: decision.by }),
    activeAgents: Number(row.agents ?? 0),
    firstSeenAt: toTimestamp(row.first_seen.getTime()),
    lastSeenAt: toTimestamp(row.last_seen.getTime())
  }
}

export const readIdentity = async (
  db: Db,
  workspace: string,
  identity: string
): Promise<IdentityRecord | undefined> => {
  const row = await base(db, workspace).where("identities.identity", "=", identity).executeTakeFirst()
  return row && recordOf(row)
}

/** Newest first, by first sight, with each row's place. */
export const listIdentities = async (
  db: Db,
  workspace: string,
  options: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<{ readonly record: IdentityRecord; readonly position: Position }>> => {
  const rows = await base(db, workspace)
    .where(behind("identities.first_seen", "identities.actor", options.after))
    .orderBy("identities.first_seen", "desc")
    .orderBy("identities.actor", "desc")
    .limit(options.limit)
    .execute()
  return rows.map((row) => ({ record: recordOf(row), position: { at: row.first_seen.getTime(), id: row.actor } }))
}

/** Every disabled identity of the whole database: what `Directory` holds in memory. */
export const disabledIdentities = async (
  db: Db
): Promise<ReadonlyArray<{ readonly workspace: string; readonly identity: string }>> =>
  db
    .selectFrom("identities")
    .innerJoin("heads", (join) =>
      join.onRef("heads.workspace", "=", "identities.workspace").onRef("heads.id", "=", "identities.actor")
    )
    .where("heads.status", "=", "disabled")
    .select(["identities.workspace", "identities.identity"])
    .execute()
