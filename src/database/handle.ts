/** Where a repository's function runs its statements: a connection of the pool, or a transaction. */
import type { Kysely } from "kysely"
import type { Tables } from "./tables.ts"

export type Db = Kysely<Tables>
