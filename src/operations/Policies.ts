/**
 * Whether a request parks, asked of memory.
 *
 * L1. Rules are forgotten when the auth revision changes, which every change of a policy raises: another node's counts
 *     after at most a beat of the lease, this node's own at once (`forget`).
 * L2. A read that began before something was forgotten fills nothing.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { type ApprovalRule, type RuledRequest, parks } from "./policy.ts"
import { readRules } from "./policyRows.ts"

const held = 10_000
const text = `select rules from approval_policies where workspace = $1`

export class Policies extends Context.Service<
  Policies,
  {
    readonly parks: (workspace: string, request: RuledRequest) => Effect.Effect<boolean, DatabaseUnavailable>
    /** A policy was changed by this node. */
    readonly forget: () => void
  }
>()("troupe/operations/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const database = yield* Database
      const lease = yield* Lease
      let cache = new LRUCache<string, ReadonlyArray<ApprovalRule>>({ max: held })
      let revision = lease.authRevision()

      const forget = () => {
        cache = new LRUCache({ max: held })
      }
      const current = () => {
        const now = lease.authRevision()
        if (now !== revision) {
          revision = now
          forget()
        }
        return cache
      }

      const read = Effect.fnUntraced(function* (workspace: string) {
        const into = current()
        const rows = yield* database.read<{ readonly rules: unknown }>({
          name: "approval_policy",
          text,
          values: [toUuid(workspace)]
        })
        const rules = readRules(rows[0]?.rules)
        into.set(workspace, rules)
        return rules
      })

      return Policies.of({
        parks: (workspace, request) => {
          const rules = current().get(workspace)
          return rules === undefined
            ? Effect.map(read(workspace), (found) => parks(found, request))
            : Effect.succeed(parks(rules, request))
        },
        forget
      })
    })
  )
}
