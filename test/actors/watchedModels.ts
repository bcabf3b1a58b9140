/** The scripted models, with an eye on each prompt that they get: what is wrong with one is the world's complaint. */
import { Effect } from "effect"
import { Prompts } from "../../actors/thread/memory/prompts.ts"
import { factOf } from "../../actors/thread/replies/rows.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { logOf } from "../../src/journal/wholeLog.ts"
import type { Models, Prompt } from "../../src/models/Model.ts"
import { foldCarry } from "../../machines/thread/fold.ts"
import type { World } from "./World.ts"

/** A prompt that a provider would refuse: a call without result, or nothing of the turn to answer. */
const complaintsAbout = ({ messages, turnId }: Prompt): ReadonlyArray<string> => {
  const open = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ toolCallId }) => toolCallId) : []
    )
  )
  for (const message of messages)
    if (message.role === "tool" && !open.delete(message.toolCallId)) return ["a result without its call"]
  if (open.size > 0) return [`a prompt with ${open.size} calls that have no result`]
  return messages.some((message) => message.role === "user" && message.turnId === turnId)
    ? []
    : ["a prompt without a message of its turn"]
}

/** Real models, whose prompts are held against a cold fold of the journal (M1). */
export const watchedModels = (
  world: World,
  models: Models["Service"],
  ref: () => ActorRef | undefined
): Models["Service"] => ({
  ...models,
  sample: (request) =>
    Effect.gen(function* () {
      const isSummary = request.prompt.purpose === "summary"
      if (isSummary) yield* world.summaries
      const actor = ref()
      if (!isSummary) world.complaints.push(...complaintsAbout(request.prompt))
      if (actor !== undefined && !isSummary) {
        const facts = world.store.actors.get(keyOf(actor))?.facts ?? []
        const { compaction } = foldCarry(facts.map(factOf))
        // From the beginning, and from what a summary covers.
        for (const from of new Set([0, compaction?.pos ?? 0])) {
          const read = (_: ActorRef, after: number) => Effect.succeed(logOf(facts.filter(({ pos }) => pos > after)))
          const prompts = new Prompts({ keptBytes: 0, underWayBytes: 0 }, read)
          const cold = yield* Effect.orDie(prompts.upTo(actor, { from, to: facts.length }))
          if (JSON.stringify(cold) !== JSON.stringify(request.prompt.messages))
            world.complaints.push(`a kept prompt is not the journal's from ${from} on`)
        }
      }
      return yield* models.sample(request)
    })
})
