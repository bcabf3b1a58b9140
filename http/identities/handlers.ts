/**
 * Identities: contract to the actor that decides, then to rows that tell of it.
 *
 * The actor's commit is the truth. What follows it (the row, auth revision, operation, kept answer) is
 * one transaction; a request that is cut off in between may be repeated, and completes it.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { OperationAction } from "../../src/operations/operation.ts"
import { Identities, type IdentityState, type IdentityUnavailable } from "../../src/identities/Identities.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { raiseAuthRevision } from "../../src/keys/rows.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { listIdentities, readIdentity, seeIdentity } from "../../src/identities/rows.ts"
import { createCompleted } from "../../src/operations/rows.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Credentials } from "../Credentials.ts"
import { Refused } from "../errors.ts"
import { makePages } from "../newestFirst.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const own = new Refused({ error: "own_identity", message: "identity: a credential cannot disable its own identity" })
/** What an agent asks for here waits for a person, and nothing parks yet: it is not done without one. */
const unparked = new Refused({
  error: "permission_denied",
  message: "what an agent asks for here waits for a person's approval, which cannot be asked for yet"
})
const unreachable = () =>
  new Refused({
    error: "runtime_unavailable",
    message: "the identity cannot be reached; try again",
    retryAfterSeconds: 1
  })

export const IdentitiesHandlers = HttpApiBuilder.group(
  Api,
  "identities",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* Credentials
    const directory = yield* Directory
    const identities = yield* Identities
    const lease = yield* Lease
    const pages = yield* makePages
    const writes = yield* makeWrites

    const settle = Effect.fnUntraced(function* (
      action: OperationAction,
      identity: string,
      command: Effect.Effect<IdentityState, IdentityUnavailable>
    ) {
      const { lease: given, principal, workspace } = yield* Caller
      if (given !== undefined) return yield* unparked
      const decided = command.pipe(
        Effect.mapError(unreachable),
        Effect.tap((state) => Effect.sync(() => directory.mark(workspace, identity, state.disabled)))
      )
      const answer = yield* writes.postAfter(action, decided, async (tx, state) => {
        const at = lease.now()
        await seeIdentity(tx, workspace, identity, state.disabled ? Math.min(state.at, at) : at)
        await raiseAuthRevision(tx)
        const record = await readIdentity(tx, workspace, identity)
        const operation = await createCompleted(
          tx,
          workspace,
          { action, by: principal, result: { status: 200, body: { identity: record } } },
          at
        )
        return jsonAnswer({ operation })
      })
      yield* credentials.forget
      return answer
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "identities",
          place: `identities ${workspace}`,
          query,
          fetch: (db, page) => listIdentities(db, workspace, page),
          position: (row) => row.position
        })
        return json({ identities: rows.map((row) => row.record), nextCursor })
      }),

      disable: Effect.fnUntraced(function* ({ payload: { identity } }) {
        const { identity: mine, principal, workspace } = yield* Caller
        if (identity === mine) return yield* own
        return yield* settle("identity.disable", identity, identities.disable(workspace, identity, principal))
      }),

      enable: Effect.fnUntraced(function* ({ payload: { identity } }) {
        const { principal, workspace } = yield* Caller
        return yield* settle("identity.enable", identity, identities.enable(workspace, identity, principal))
      })
    })
  })
)
