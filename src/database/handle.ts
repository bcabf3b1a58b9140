/** Where a repository's function runs its statements: a connection of the pool, or a transaction. */
import type { Kysely, Transaction } from "kysely"
import type { Tables } from "./tables.ts"

export type Db = Kysely<Tables>

/** For what must be written as a whole, or not at all. */
export type Tx = Transaction<Tables>
