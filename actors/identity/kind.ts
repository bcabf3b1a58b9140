/** The identity as a kind of actor: no jobs, no moments, its whole state in the carry. */
import { Effect, Option, Schema } from "effect"
import { Principal } from "../../src/domain/principal.ts"
import type { FactRow } from "../../src/journal/Journal.ts"
import type { IdentityState } from "../../src/identities/Identities.ts"
import { freshBody } from "../../src/seed.ts"
import type { Command, Context, Fact, Snapshot } from "../../machines/identity/chart.ts"
import { decide, start } from "../../machines/identity/decide.ts"
import { identityInspected } from "../../machines/identity/inspected.ts"
import { restore } from "../../machines/identity/fold.ts"
import { defineKind } from "../Kind.ts"

export type IdentityRequest = Omit<Command, "at">

export const row = ({ at, by, type }: Fact): FactRow => ({
  type,
  turn: null,
  n: 0,
  public: false,
  event: JSON.stringify({ by }),
  detail: null,
  once: null,
  at
})

export const identityStateOf = ({ context: { disabled } }: Snapshot): IdentityState =>
  disabled === null ? { disabled: false } : { disabled: true, ...disabled }

const decode = Schema.decodeUnknownOption(
  Schema.Struct({ type: Schema.Literals(["disable", "enable"]), by: Principal })
)

export const identityKind = defineKind<Snapshot, IdentityRequest, Command, never>({
  name: "identity",
  nouns: { id: "identity", parent: null },
  blank: start(),
  standing: ({ context, value }) => ({ status: value, runnableAt: null, since: null, carry: JSON.stringify(context) }),
  load: ({ head }) => {
    // Earlier versions wrote an empty carry for an identity that was enabled before anybody had disabled it.
    const { disabled = null }: Partial<Context> = JSON.parse(head.carry)
    return restore({ disabled })
  },
  prepare: (_, request, at) => Effect.succeed({ ...request, at }),
  decide: ({ snapshot }, command) => {
    const { facts, next } = decide(snapshot, command)
    return {
      next,
      jobs: [],
      ...(facts.length === 0 ? {} : { written: { facts: facts.map(row) } }),
      answer: { kind: "found", body: JSON.stringify(identityStateOf(next)) }
    }
  },
  inspected: identityInspected,
  causeOf: ({ type }) => type,
  // Disabling twice is disabling once.
  remote: {
    forwardable: () => ({ id: freshBody(), storable: false }),
    decodeRequest: (sent) => Option.getOrUndefined(decode(sent))
  }
})
