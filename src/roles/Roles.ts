/**
 * The roles that a turn asks, compiled, from memory.
 *
 * Z1. A hit is a look-up in a Map; all misses of a call are one prepared read.
 * Z2. Everything is forgotten when the auth revision changes, which every edit and delete of a role
 *     raises (src/roles/rows.ts): another node's write counts after at most a beat of the lease, this
 *     node's own at once (`forget`).
 * Z3. A read that began before something was forgotten fills nothing.
 * Z4. An id without a role is a role that denies everything.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { builtInRoles } from "./role.ts"
import { Lease } from "../journal/Lease.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { readRoleBody } from "./rows.ts"
import { type CompiledRole, compileRole, deniesAll } from "./evaluate.ts"

export class Roles extends Context.Service<
  Roles,
  {
    /** The roles of a profile, in its order. None allow nothing. */
    readonly of: (
      workspace: string,
      roleIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<CompiledRole>, DatabaseUnavailable>
    /** A role was changed or deleted by this node. */
    readonly forget: () => void
  }
>()("troupe/roles/Roles") {
  static readonly layer = Layer.effect(
    Roles,
    Effect.suspend(() => make)
  )
}

const held = 2_000

const builtIns = new Map(builtInRoles.map((role) => [role.id, compileRole(role)]))

const text = `select id, body from roles where workspace = $1 and id = any($2::uuid[])`

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  let cache = new LRUCache<string, CompiledRole>({ max: held })
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

  const find = (workspace: string, id: string) => builtIns.get(id) ?? current().get(workspace + id)

  const read = Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
    const into = current()
    const rows = yield* database.read<{ readonly id: string; readonly body: unknown }>({
      name: "roles_of",
      text,
      values: [toUuid(workspace), ids.map(toUuid)]
    })
    const found = new Map(ids.map((id) => [id, deniesAll(id)]))
    for (const row of rows) {
      const id = fromUuid("role", row.id)
      found.set(id, compileRole({ id, ...readRoleBody(row.body) }))
    }
    // After a `forget` this is a cache that nobody looks into any more (Z3).
    for (const [id, role] of found) into.set(workspace + id, role)
    return found
  })

  const of = Effect.fnUntraced(function* (workspace: string, roleIds: ReadonlyArray<string>) {
    const known = new Map(roleIds.map((id) => [id, find(workspace, id)]))
    const missing = [...known].flatMap(([id, role]) => (role === undefined ? [id] : []))
    const found = missing.length === 0 ? undefined : yield* read(workspace, missing)
    return roleIds.map((id) => known.get(id) ?? found?.get(id) ?? deniesAll(id))
  })

  return Roles.of({ of, forget })
})
