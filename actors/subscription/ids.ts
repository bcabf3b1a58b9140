/** Ids of what a subscription hands over: the same however often that is tried. */
import { hashedId } from "../../src/hashedId.ts"

interface OfBatch {
  readonly id: string
  readonly generation: number
  readonly from: number
  readonly to: number
}

export const inputIdOf = ({ from, generation, id, to }: OfBatch) => hashedId("input", id, generation, from, to)

export const threadIdOf = ({ from, generation, id, to }: OfBatch) => hashedId("thread", id, generation, from, to)

/** The thread after one that takes nothing any more. */
export const threadAfter = (threadId: string) => hashedId("thread", threadId)
