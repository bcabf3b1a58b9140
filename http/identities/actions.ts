/**
 * What may park of identities: to disable and to enable one.
 *
 * The actor's commit is the truth. What follows it (the row, auth revision, operation, kept answer) is
 * one transaction; a request that is cut off in between may be repeated, and completes it.
 */
import { Effect, Schema } from "effect"
import { Directory } from "../../src/agents/Directory.ts"
import { Identities, type IdentityState, type IdentityUnavailable } from "../../src/identities/Identities.ts"
import { readIdentity, seeIdentity } from "../../src/identities/rows.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { raiseAuthRevision } from "../../src/keys/rows.ts"
import type { Asking } from "../actions/Action.ts"
import { defineAction } from "../actions/defineAction.ts"
import { Credentials } from "../Credentials.ts"
import { Refused } from "../errors.ts"
import { jsonAnswer } from "../writes.ts"

const own = new Refused({ error: "own_identity", message: "identity: a credential cannot disable its own identity" })
const unreachable = () =>
  new Refused({
    error: "runtime_unavailable",
    message: "the identity cannot be reached; try again",
    retryAfterSeconds: 1
  })

type Refusals = Refused<"own_identity"> | Refused<"runtime_unavailable">

const One = Schema.Struct({ identity: Schema.String })

export const makeIdentityActions = Effect.gen(function* () {
  const credentials = yield* Credentials
  const directory = yield* Directory
  const identities = yield* Identities
  const lease = yield* Lease

  const marked = (
    { workspace }: Asking,
    identity: string,
    command: Effect.Effect<IdentityState, IdentityUnavailable>
  ) =>
    command.pipe(
      Effect.mapError(unreachable),
      Effect.map((state) => {
        directory.mark(workspace, identity, state.disabled)
        return async (tx: Parameters<typeof raiseAuthRevision>[0]) => {
          const at = lease.now()
          await seeIdentity(tx, workspace, identity, state.disabled ? Math.min(state.at, at) : at)
          await raiseAuthRevision(tx)
          return jsonAnswer({ identity: await readIdentity(tx, workspace, identity) })
        }
      })
    )

  return {
    disable: defineAction<typeof One.Type, Refusals>({
      name: "identity.disable",
      params: One,
      scope: "admin",
      way: {
        type: "command",
        refuse: (asking, { identity }) => (identity === asking.identity ? own : undefined),
        command: (asking, { identity }) =>
          marked(asking, identity, identities.disable(asking.workspace, identity, asking.principal)),
        afterwards: credentials.forget
      }
    }),

    enable: defineAction({
      name: "identity.enable",
      params: One,
      scope: "admin",
      way: {
        type: "command",
        refuse: () => undefined,
        command: (asking, { identity }) =>
          marked(asking, identity, identities.enable(asking.workspace, identity, asking.principal)),
        afterwards: credentials.forget
      }
    })
  }
})
