/**
 * The last events of threads that live here, as the texts they were made: whoever follows a thread
 * closely is answered from memory.
 *
 * E1. A log only grows, so what is kept is true for ever; whether it reaches to the log's end is for
 *     the reader to know, who has the thread's last seq.
 * E2. At most a few kilobytes a thread, and a cap of characters in all; the least recently written go first, and for no
 *     other reason.
 *
 * Every commit comes by here: the order is that of a Map, which takes a fifth of what lru-cache took.
 */
interface Tail {
  /** seq of the first text. */
  first: number
  readonly texts: Array<string>
  characters: number
}

const charactersPerThread = 16_384

/** Share of the cap that is left when something had to go. */
const evictedTo = 0.98

/** What an entry, and each text in it, takes beside its characters. */
const perThread = 300
const perText = 30

export class Tails {
  /** The least recently written first. */
  private readonly kept = new Map<string, Tail>()
  private characters = 0
  private readonly cap: number

  /** `cap`: characters in all; nothing is kept where there is none. */
  constructor(cap: number) {
    this.cap = cap
  }

  /** After a commit: `seq` is that of the first of `texts`. */
  committed(threadId: string, seq: number, texts: ReadonlyArray<string>) {
    const known = this.kept.get(threadId)
    if (known !== undefined) this.drop(threadId, known)
    const follows = known !== undefined && known.first + known.texts.length === seq
    const tail: Tail = follows ? known : { first: seq, texts: [], characters: perThread }
    for (const text of texts) {
      tail.texts.push(text)
      tail.characters += text.length + perText
    }
    while (tail.characters > charactersPerThread) {
      tail.characters -= (tail.texts.shift()?.length ?? 0) + perText
      tail.first++
    }
    if (tail.texts.length === 0 || tail.characters > this.cap) return
    this.kept.set(threadId, tail)
    this.characters += tail.characters
    if (this.characters > this.cap) this.evict(threadId)
  }

  /** Some more than has to go: a search for a Map's first entry passes over the places of all that went before it. */
  private evict(latest: string) {
    for (const [id, oldest] of this.kept) {
      if (id === latest || this.characters <= this.cap * evictedTo) return
      this.drop(id, oldest)
    }
  }

  private drop(threadId: string, { characters }: Tail) {
    this.kept.delete(threadId)
    this.characters -= characters
  }

  /** The events after `afterSeq`, if they are kept up to `lastSeq` and are at most `limit`. */
  since(threadId: string, afterSeq: number, lastSeq: number, limit: number): ReadonlyArray<string> | undefined {
    if (afterSeq >= lastSeq) return []
    const tail = this.kept.get(threadId)
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
