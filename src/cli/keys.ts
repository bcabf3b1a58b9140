/** `troupe keys create`: what an operator needs before the first request. The key is shown once. */
import { Console, Effect, Option } from "effect"
import { generateKey } from "../keys/keyText.ts"
import type { Scope } from "../keys/apiKey.ts"
import { scopes as allScopes } from "../keys/scopes.ts"
import { createKey } from "../keys/rows.ts"
import { migrate } from "../database/migrate.ts"
import { ensureWorkspace } from "../workspaces/ensure.ts"
import { explained, failure } from "./failure.ts"
import { onDatabase } from "./node.ts"
import { withDatabase } from "./operator.ts"
import type { Output } from "./output.ts"

const parseScopes = (text: string) => {
  const given = text
    .split(",")
    .map((s) => s.trim())
    .filter((s) => s !== "")
  const known = given.filter((s): s is Scope => allScopes.some((scope) => scope === s))
  return known.length === given.length && known.length > 0
    ? Effect.succeed([...new Set(known)])
    : Effect.fail(failure(`--scopes is a comma-separated list of ${allScopes.join(", ")}.`))
}

export const create = Effect.fn("cli.keys.create")(function* ({
  workspace,
  name,
  scopes,
  output
}: {
  readonly workspace: string
  readonly name: string
  readonly scopes: Option.Option<string>
  readonly output: Output
}) {
  const held = Option.isSome(scopes) ? yield* parseScopes(scopes.value) : [...allScopes]
  const made = generateKey()
  const stored = yield* withDatabase((url) =>
    Effect.andThen(
      migrate(url),
      onDatabase(url, (db) =>
        db.transaction().execute(async (tx) => {
          const id = await ensureWorkspace(tx, workspace)
          return createKey(tx, id, { public: made.publicPart, hash: made.hash, name, scopes: held }, Date.now())
        })
      )
    ).pipe(explained(0))
  )
  yield* Console.log(
    output === "json"
      ? JSON.stringify({ id: stored.id, key: made.key })
      : `${made.key}\n\nThis is the only time that the key is shown. Its id is ${stored.id}.`
  )
})
