/** The journal's tables as Kysely sees them. Ids are UUID texts here; prefixes are put on at the edges. */
import type { ColumnType, Generated } from "kysely"

type Moment = ColumnType<Date, Date | string, Date | string>
type Fixed<A> = ColumnType<A, A, never>

export interface JournalTables {
  workspaces: { id: Fixed<string>; name: string; created_at: Generated<Date> }
  heads: {
    workspace: Fixed<string>
    id: Fixed<string>
    parent: Fixed<string | null>
    created_at: Fixed<Date>
    /** Raised by every edit of the attributes: the ETag. */
    version: Generated<number>
    kind: Fixed<string>
    attributes: string
    owner: string | null
    epoch: number
    pos: number
    seq: number
    rev: number
    /** Minutes since 1970 of updated_at. */
    touched: number
    updated_at: Moment
    fruitless: Generated<number>
    since: number | null
    runnable_at: ColumnType<Date | null, Date | string | null, Date | string | null>
    status: string
    carry: string
  }
  facts: {
    actor: Fixed<string>
    at: Moment
    pos: Fixed<number>
    seq: Fixed<number | null>
    n: Fixed<number>
    turn: Fixed<string | null>
    once: Fixed<string | null>
    /** Only of facts that are listed across actors. */
    workspace: Fixed<string | null>
    event: Fixed<string>
    detail: Fixed<string | null>
    /** Code of the command whose first fact it is. */
    cause: Fixed<number | null>
  }
  inputs: {
    workspace: Fixed<string>
    actor: Fixed<string>
    id: Fixed<string>
    ord: number
    state: "pending" | "cancelled"
    body: string
  }
  waits: {
    workspace: Fixed<string>
    actor: Fixed<string>
    id: Fixed<string>
    target: string
    state: string
    created_at: Date
    body: string
    /** Of a client's: the call that it owes the result of, and its toolset. */
    call: Fixed<string | null>
    toolset: Fixed<string | null>
  }
  idempotency: {
    workspace: Fixed<string>
    scope: Fixed<string>
    created_at: Generated<Date>
    status: number
    fingerprint: string
    body: string
  }
  inbox: {
    workspace: Fixed<string>
    id: Fixed<string>
    actor: Fixed<string>
    kind: Fixed<string>
    created_at: Generated<Date>
    command: Fixed<string>
  }
  /** A view: of each node's rows, and of those that nodes of before migration 5 have written. */
  spent: { workspace: Fixed<string>; subject: Fixed<string>; minute: Fixed<number>; amount: Fixed<number> }
  /** Amounts are read as sums. */
  tallies: {
    workspace: Fixed<string>
    minute: Fixed<number>
    resource: Fixed<string>
    node: Fixed<string>
    amount: Fixed<string>
  }
  /** Amounts are read as sums. */
  usage_by_day: {
    workspace: Fixed<string>
    day: Fixed<Date>
    agent: Fixed<string>
    model: Fixed<string>
    node: Fixed<string>
    calls: Fixed<string>
    input_tokens: Fixed<string>
    output_tokens: Fixed<string>
    cache_read_tokens: Fixed<string>
    cache_write_tokens: Fixed<string>
    reasoning_tokens: Fixed<string>
    cost: Fixed<number>
    unpriced: Fixed<string>
  }
  nodes: {
    incarnation: Fixed<string>
    name: Fixed<string>
    deadline: Moment
    started_at: Generated<Date>
    version: Fixed<string>
    /** What the node said of itself with its last beat (NodeStatus). */
    status: unknown
    beaten_at: Moment
  }
  auth_revision: { single: Generated<boolean>; revision: ColumnType<string, number, number> }
}
