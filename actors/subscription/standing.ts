/** What a subscription knows of itself beside its state: its feed, who made it, and whether anybody may act for it. */
import { Effect, Schema } from "effect"
import type { Snapshot } from "../../machines/subscription/chart.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { Principal } from "../../src/domain/principal.ts"
import type { SubscriptionSettings } from "../../src/domain/subscription.ts"
import type { ActorView } from "../Kind.ts"

const read = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ createdBy: Principal, feedId: Schema.String }))
)

export const feedOf = ({ attributes }: Pick<ActorView<Snapshot>, "attributes">) => read(attributes).feedId

/** Whether an identity that its turns would act for is disabled: its own, its agent's, or its maker's. */
export const makeIdentityCheck = Effect.gen(function* () {
  const directory = yield* Directory

  return Effect.fnUntraced(function* (
    { attributes, parent, ref: { workspace } }: ActorView<Snapshot>,
    { identity }: SubscriptionSettings
  ) {
    const agent = yield* directory.agent(workspace, parent ?? "")
    const { createdBy } = read(attributes)
    return [identity, agent?.identity, createdBy.identity].some(
      (one) => one !== undefined && directory.identityDisabled(workspace, one)
    )
  })
})
