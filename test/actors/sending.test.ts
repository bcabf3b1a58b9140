/** A thread that is started for a message, and whose birth does not tell what became of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ActorError, Declined, type Reply, Unreachable } from "../../actors/Actor.ts"
import { makeSending } from "../../actors/thread/sending.ts"

const away = new Unreachable({ retryAfterSeconds: 2 })
const unknown = new Declined({ reason: "not_found", message: "There is no such thread." })
const overBudget = new Declined({ reason: "budget_exceeded", message: "The budget is used up." })
const accepted: Reply = { kind: "created", body: "{}" }
const notAsked = () => Effect.die("not asked")

const start = (birth: ActorError | undefined, thread: ActorError | Reply) =>
  makeSending({
    ask: () => ("_tag" in thread ? Effect.fail(thread) : Effect.succeed(thread)),
    ensure: () => (birth === undefined ? Effect.succeed(undefined) : Effect.fail(birth)),
    bus: { wake: () => {} },
    journal: { key: notAsked, post: notAsked },
    lease: { now: () => 0 },
    quotas: { add: () => {} }
  }).start(
    { workspace: "wsp_1", principal: { type: "subscription", id: "sub_1" } },
    { agentId: "agt_1", threadId: "thr_1", inputId: "inp_1", content: [{ type: "text", text: "x" }] }
  )

describe("a thread that is started for a message", () => {
  it.effect.each([
    ["is out of reach, and not gone, while nobody knows whether it was born", away, unknown, away],
    ["is out of reach, and not gone, while it is being born elsewhere", undefined, unknown, away],
    ["is refused with what its birth is refused with", overBudget, unknown, overBudget],
    ["is there where it was born before that was refused", overBudget, accepted, accepted],
    ["is there where its birth had no answer", away, accepted, accepted]
  ] as const)("%s", ([_, birth, thread, wanted]) =>
    Effect.gen(function* () {
      assert.deepEqual(yield* Effect.catch(start(birth, thread), (failure) => Effect.succeed(failure)), wanted)
    })
  )
})
