/** The approval policy of a workspace as a row: none until it is first changed. */
import { Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import { toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import type { Db } from "../database/handle.ts"
import { raiseAuthRevision } from "../keys/rows.ts"
import { type ApprovalPolicy, ApprovalRule } from "./policy.ts"

export interface StoredPolicy {
  readonly policy: ApprovalPolicy
  /** 0 until it is first changed. */
  readonly rev: number
}

/** Rules that a later version wrote may name what this one does not know: those fit nothing here. */
export const readRules = (stored: unknown): ReadonlyArray<ApprovalRule> =>
  Array.isArray(stored) ? stored.filter(isRule) : []
const isRule = Schema.is(ApprovalRule)
const readPrincipal = Schema.decodeUnknownSync(Principal)

const unchanged: StoredPolicy = { policy: { rules: [] }, rev: 0 }

export const readPolicy = async (db: Db, workspace: string, hold = false): Promise<StoredPolicy> => {
  const row = await db
    .selectFrom("approval_policies")
    .select(["rules", "rev", "updated_at", "updated_by"])
    .where("workspace", "=", toUuid(workspace))
    .$if(hold, (query) => query.forUpdate())
    .executeTakeFirst()
  return row === undefined
    ? unchanged
    : {
        policy: {
          rules: readRules(row.rules),
          updatedAt: toTimestamp(row.updated_at.getTime()),
          updatedBy: readPrincipal(row.updated_by)
        },
        rev: row.rev
      }
}

/** Undefined where `agrees` refuses the revision. Rules that are there already change nothing. */
export const writePolicy = async (
  tx: Db,
  workspace: string,
  rules: ReadonlyArray<ApprovalRule>,
  by: Principal,
  agrees: (revision: number) => boolean,
  at: number
): Promise<StoredPolicy | undefined> => {
  const before = await readPolicy(tx, workspace, true)
  if (!agrees(before.rev)) return undefined
  if (isDeepStrictEqual(before.policy.rules, rules)) return before
  const changed = {
    rules: JSON.stringify(rules),
    rev: before.rev + 1,
    updated_at: new Date(at),
    updated_by: JSON.stringify(by)
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("approval_policies")
    .values({ workspace: toUuid(workspace), ...changed })
    // Of two first changes at once, the second has not seen the other's.
    .onConflict((conflict) =>
      conflict.column("workspace").doUpdateSet(changed).where("approval_policies.rev", "=", before.rev)
    )
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return undefined
  await raiseAuthRevision(tx)
  return { policy: { rules, updatedAt: toTimestamp(at), updatedBy: by }, rev: changed.rev }
}
