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

/** What is put is weighed once: a tail that has grown is another one, with the same texts. */
interface Tail {
  /** seq of the first text. */
  readonly first: number
  readonly texts: Array<string>
  readonly characters: number
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
    const follows = known !== undefined && known.first + known.texts.length === seq
    const kept = follows ? known.texts : []
    let first = follows ? known.first : seq
    let characters = follows ? known.characters : perThread
    for (const text of texts) {
      kept.push(text)
      characters += text.length + perText
    }
    while (characters > charactersPerThread) {
      characters -= (kept.shift()?.length ?? 0) + perText
      first++
    }
    if (kept.length > 0) this.kept.set(threadId, { first, texts: kept, characters })
    else this.kept.delete(threadId)
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
