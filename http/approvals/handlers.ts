/** The approval policy: contract to its row. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Database } from "../../src/database/Database.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Policies } from "../../src/operations/Policies.ts"
import { readPolicy, type StoredPolicy, writePolicy } from "../../src/operations/policyRows.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makeWrites } from "../writes.ts"

const answer = ({ policy, rev }: StoredPolicy) => json({ policy }, 200, { etag: etag(rev) })

const changed = new Refused({ error: "precondition_failed", message: "If-Match: the policy has changed since" })

export const ApprovalsHandlers = HttpApiBuilder.group(
  Api,
  "approvals",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const lease = yield* Lease
    const policies = yield* Policies
    const writes = yield* makeWrites

    return handlers.handleAll({
      getPolicy: Effect.fnUntraced(function* () {
        const { workspace } = yield* Caller
        return answer(yield* database.run("approvals.getPolicy", (db) => readPolicy(db, workspace)))
      }),

      putPolicy: Effect.fnUntraced(function* ({ headers, payload: { rules } }) {
        const { principal, workspace } = yield* Caller
        const agrees = meets(headers["if-match"])
        const done = yield* writes.change(
          "approvals.putPolicy",
          async (tx) => (await writePolicy(tx, workspace, rules, principal, agrees, lease.now())) ?? changed
        )
        policies.forget()
        return answer(done)
      })
    })
  })
)
