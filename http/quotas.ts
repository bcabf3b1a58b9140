/** Refusals of workspaces that have used up a quota. */
import { Effect } from "effect"
import type { Counted } from "../src/quotas/quota.ts"
import { type Exceeded, Quotas } from "../src/quotas/Quotas.ts"
import type { Db } from "../src/database/handle.ts"
import { isQuotaFull } from "../src/quotas/counts.ts"
import { quotaRefusals, record } from "../src/telemetry/metrics.ts"
import { Refused } from "./errors.ts"

/** For whoever makes a row, in its transaction: the refusal where the workspace has as many as it may. */
export const makeQuotaCheck = Effect.map(
  Quotas,
  (quotas) => async (tx: Db, workspace: string, resource: Exclude<Counted, "roles">) => {
    const limit = quotas.limitOf(workspace, resource)
    if (!(await isQuotaFull(tx, workspace, resource, limit))) return undefined
    record(quotaRefusals.with({ resource }))
    return new Refused({
      error: "quota_exceeded",
      code: resource,
      message: `the workspace has ${limit} ${resource}, as many as it may: remove one first`
    })
  }
)

export const tooManyBytes = ({ limit, retryAfterSeconds }: Exceeded) => {
  record(quotaRefusals.with({ resource: "stored_bytes" }))
  return new Refused({
    error: "rate_limited",
    code: "stored_bytes",
    message: `the workspace has stored ${limit} bytes within 24 hours, as many as it may`,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds })
  })
}
