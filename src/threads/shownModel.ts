/**
 * The model that a thread shows, always an exact id: the first one that the last input that waits would run on, else
 * that of the last turn. Asked of rows; a live thread knows how each of its inputs would run
 * (actors/thread/replies/answers.ts).
 */
import { Effect } from "effect"
import type { Input } from "../domain/input.ts"
import { selectorsOf, targetsOf } from "../models/choice.ts"
import { Models } from "../models/Model.ts"
import type { DatabaseUnavailable } from "../database/Database.ts"
import { Directory } from "../agents/Directory.ts"
import { lastToOpen, type DetailRows } from "./detail.ts"
import { profileOf } from "./pinnedProfile.ts"

/** What is asked of a thread: `pending` need hold no more than the inputs that may be the last. */
type ModelQuestion = Pick<DetailRows, "agentId" | "attributes" | "carry" | "workspaceId"> & {
  readonly pending: ReadonlyArray<Pick<Input, "ord" | "mode" | "forTurnId" | "model">>
}

export const makeThreadModel = Effect.gen(function* () {
  const directory = yield* Directory
  const models = yield* Models

  return ({
    agentId,
    attributes,
    carry,
    pending,
    workspaceId
  }: ModelQuestion): Effect.Effect<string | undefined, DatabaseUnavailable> => {
    const last = lastToOpen(pending, carry.turn?.turnId)
    if (last === undefined) return Effect.succeed(carry.model)
    return Effect.gen(function* () {
      const agent = yield* directory.agent(workspaceId, agentId)
      const profile = agent && (yield* profileOf(directory, workspaceId, agent, attributes))
      return profile && targetsOf(models, selectorsOf(profile, attributes, last))[0]
    })
  }
})
export type ThreadModel = Effect.Success<typeof makeThreadModel>
