/**
 * What an agent has spent in its budget's window: sums of minutes, kept for a few seconds, because
 * every Thread detail tells it. `at` says how old a figure is.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { toUuid } from "../domain/ids.ts"
import type { BudgetWindow } from "../domain/thread.ts"
import { dollars } from "../domain/usage.ts"
import { Lease } from "../journal/Lease.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { makeSharing } from "../database/sharing.ts"

export interface Spend {
  /** USD that the thread's agent spent in the window. */
  readonly spent: number
  /** The agent's budget window; 24h without a budget. */
  readonly window: BudgetWindow
  /** Milliseconds. */
  readonly at: number
}

/** Found by the agent's id alone; the workspace is compared. */
interface Held {
  readonly workspace: string
  readonly spend: Spend
}

const freshMs = 5000
const heldAgents = 20_000
const minutes: Record<BudgetWindow, number | null> = { "24h": 24 * 60, "7d": 7 * 24 * 60, total: null }

const sum = `select coalesce(sum(amount), 0)::float8 as spent from spent where workspace = $1 and subject = $2 and
  minute >
  $3`

/** The first minute with which more than so much has left the window. */
const leaves = `select minute from (
    select minute, sum(sum(amount)) over (order by minute) as gone from spent
      where workspace = $1 and subject = $2 and minute > $3 group by minute) minutes
  where gone > $4 order by minute limit 1`

export class Spending extends Context.Service<
  Spending,
  {
    /** At most five seconds old. */
    readonly of: (workspace: string, agentId: string, window: BudgetWindow) => Effect.Effect<Spend, DatabaseUnavailable>
    /** This node has booked it: what it remembers of the agent grows by it. */
    readonly booked: (workspace: string, agentId: string, amount: number) => void
    /**
     * As of now; with the seconds until enough of it has left the window for the limit, where it has reached that. What
     * was spent for all time never leaves.
     */
    readonly against: (
      workspace: string,
      agentId: string,
      budget: { readonly limit: number; readonly window: BudgetWindow }
    ) => Effect.Effect<{ readonly spent: number; readonly retryAfterSeconds?: number }, DatabaseUnavailable>
  }
>()("troupe/agents/Spending") {
  static readonly layer = Layer.effect(
    Spending,
    Effect.gen(function* () {
      const database = yield* Database
      const lease = yield* Lease
      const held = new LRUCache<string, Held>({ max: heldAgents })
      const sharing = makeSharing<Spend, DatabaseUnavailable>()

      const peek = (workspace: string, agentId: string) => {
        const known = held.get(agentId)
        return known?.workspace === workspace ? known.spend : undefined
      }

      const read = Effect.fnUntraced(function* (workspace: string, agentId: string, window: BudgetWindow) {
        const at = Math.floor(lease.now())
        const length = minutes[window]
        const since = length === null ? -1 : Math.floor(at / 60_000) - length
        const rows = yield* database.read<{ readonly spent: number }>({
          name: "spending",
          text: sum,
          values: [toUuid(workspace), toUuid(agentId), since]
        })
        const spend: Spend = { spent: dollars(rows[0]?.spent ?? 0), window, at }
        held.set(agentId, { workspace, spend })
        return spend
      })

      const against = Effect.fnUntraced(function* (
        workspace: string,
        agentId: string,
        { limit, window }: { readonly limit: number; readonly window: BudgetWindow }
      ) {
        const { at, spent } = yield* read(workspace, agentId, window)
        const length = minutes[window]
        if (spent < limit || length === null) return { spent }
        const rows = yield* database.read<{ readonly minute: number }>({
          name: "spending_leaves",
          text: leaves,
          values: [toUuid(workspace), toUuid(agentId), Math.floor(at / 60_000) - length, spent - limit]
        })
        const [row] = rows
        // A minute has left the window when it is as old as that is long.
        const until = row === undefined ? at : (row.minute + length) * 60_000
        return { spent, retryAfterSeconds: Math.max(1, Math.ceil((until - at) / 1000)) }
      })

      return Spending.of({
        against,
        booked: (workspace, agentId, amount) => {
          const known = peek(workspace, agentId)
          if (known === undefined) return
          held.set(agentId, { workspace, spend: { ...known, spent: dollars(known.spent + amount) } })
        },
        of: (workspace, agentId, window) => {
          const known = peek(workspace, agentId)
          return known !== undefined && known.window === window && lease.now() - known.at < freshMs
            ? Effect.succeed(known)
            : sharing.ask(`${workspace}${agentId} ${window}`, read(workspace, agentId, window), () => {})
        }
      })
    })
  )
}
