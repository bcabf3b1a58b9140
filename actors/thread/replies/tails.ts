/**
 * The last events of threads that live here, as the texts they were made: whoever follows a thread
 * closely is answered from memory.
 *
 * E1. A log only grows, so what is kept is true for ever; whether it reaches to the log's end is for
 *     the reader to know, who has the thread's last seq.
 * E2. At most a few kilobytes a thread, and a cap of characters in all; the least recently written go first, and for no
 *     other reason.
 */
import { LRUCache } from "lru-cache"

interface Tail {
  /** seq of the first text. */
  first: number
  texts: Array<string>
  characters: number
}

const charactersPerThread = 16_384

/** What an entry, and each text in it, takes beside its characters. */
const perThread = 300
const perText = 30

export class Tails {
  private readonly kept: LRUCache<string, Tail>

  /** `cap`: characters in all; nothing is kept where there is none. */
  constructor(cap: number) {
    this.kept = new LRUCache({ maxSize: Math.max(1, cap), sizeCalculation: ({ characters }) => characters })
  }

  /** After a commit: `seq` is that of the first of `texts`. */
  committed(threadId: string, seq: number, texts: ReadonlyArray<string>) {
    const known = this.kept.peek(threadId)
    // A tail that has grown is weighed again only where it is put anew.
    this.kept.delete(threadId)
    const follows = known !== undefined && known.first + known.texts.length === seq
    const tail = follows ? known : { first: seq, texts: [], characters: perThread }
    for (const text of texts) {
      tail.texts.push(text)
      tail.characters += text.length + perText
    }
    while (tail.characters > charactersPerThread) {
      tail.characters -= (tail.texts.shift()?.length ?? 0) + perText
      tail.first++
    }
    if (tail.texts.length > 0) this.kept.set(threadId, tail)
  }

  /** The events after `afterSeq`, if they are kept up to `lastSeq` and are at most `limit`. */
  since(threadId: string, afterSeq: number, lastSeq: number, limit: number): ReadonlyArray<string> | undefined {
    if (afterSeq >= lastSeq) return []
    const tail = this.kept.peek(threadId)
    if (
      tail === undefined ||
      afterSeq + 1 < tail.first ||
      tail.first + tail.texts.length - 1 !== lastSeq ||
      lastSeq - afterSeq > limit
    )
      return undefined
    return tail.texts.slice(afterSeq + 1 - tail.first)
  }
}
