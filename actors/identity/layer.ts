/**
 * `Identities`: the identity kind in its registry. An identity that nobody has named yet is born by the first command.
 */
import { Effect, Layer } from "effect"
import type { Principal } from "../../src/domain/principal.ts"
import { identityActorId } from "../../src/identities/actorId.ts"
import { Identities, type IdentityState, IdentityUnavailable } from "../../src/identities/Identities.ts"
import { isUnknown, makeRegistry, type RegistryOptions } from "../Registry.ts"
import { identityKind, type IdentityRequest } from "./kind.ts"

export const layer = (options: RegistryOptions) =>
  Layer.effect(
    Identities,
    Effect.gen(function* () {
      const registry = yield* makeRegistry(identityKind, options)

      const tell = Effect.fnUntraced(function* (workspace: string, identity: string, request: IdentityRequest) {
        const ref = { workspace, kind: "identity" as const, id: identityActorId(workspace, identity) }
        const birth = { parent: null, attributes: JSON.stringify({ identity }) }
        const answer = yield* registry.tell(ref, { request }).pipe(
          Effect.catchIf(isUnknown, () => registry.create(ref, birth, { request })),
          // Born by another node at the same moment: it is there now.
          Effect.catchTag("Unreachable", () => registry.tell(ref, { request })),
          Effect.mapError((cause) => new IdentityUnavailable({ cause }))
        )
        // The text is the kind's own answer.
        return JSON.parse(answer.body) as IdentityState
      })

      return Identities.of({
        disable: (workspace: string, identity: string, by: Principal) =>
          tell(workspace, identity, { type: "disable", by }),
        enable: (workspace: string, identity: string, by: Principal) =>
          tell(workspace, identity, { type: "enable", by })
      })
    })
  )
