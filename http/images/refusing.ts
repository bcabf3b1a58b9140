/** Images that messages name: each has to be one of the agent that is written to. */
import { Effect } from "effect"
import type { MessageContent } from "../../src/domain/content.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { Images } from "../../src/images/Images.ts"
import { imagesNamedIn, missingImage } from "../../src/images/naming.ts"
import { Coverage } from "../Coverage.ts"
import { Refused } from "../errors.ts"

type Refusal = Effect.Effect<void, Refused<"image_not_found"> | DatabaseUnavailable>

export const makeImageChecks = Effect.gen(function* () {
  const coverage = yield* Coverage
  const images = yield* Images

  /** `within` is where the message stands in the body: `message.` */
  const ofAgent = Effect.fnUntraced(function* (
    workspace: string,
    agentId: string,
    content: MessageContent,
    within = ""
  ) {
    const missing = yield* images.missing(workspace, agentId, imagesNamedIn(content))
    const refused = missingImage(content, missing, within)
    if (refused !== undefined) return yield* new Refused(refused)
  })

  return {
    /** Undefined where a message names none, as most do. */
    ofAgent: (workspace: string, agentId: string, content: MessageContent, within?: string): Refusal | undefined =>
      imagesNamedIn(content).length === 0 ? undefined : ofAgent(workspace, agentId, content, within),
    /** The same of a thread's agent. A thread that is not there is the thread's to refuse. */
    ofThread: (workspace: string, threadId: string, content: MessageContent): Refusal | undefined =>
      imagesNamedIn(content).length === 0
        ? undefined
        : Effect.flatMap(coverage.agentOf(workspace, threadId), (agentId) =>
            agentId === undefined ? Effect.void : ofAgent(workspace, agentId, content)
          )
  }
})
