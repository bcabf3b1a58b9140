/** A range of a feed, read as a whole. */

interface Page<Message> {
  readonly messages: ReadonlyArray<Message>
  readonly nextSeq?: number
}

/**
 * Up to `most` messages of a range. A page of the server ends early where they are large: `ask` is told where the next
 * one begins.
 */
export const rangeOf = async <Message>(
  ask: (startSeq: number | undefined) => Promise<Page<Message>>,
  most: number
): Promise<ReadonlyArray<Message>> => {
  const range: Array<Message> = []
  let startSeq: number | undefined
  do {
    const { messages, nextSeq } = await ask(startSeq)
    range.push(...messages)
    startSeq = nextSeq
  } while (startSeq !== undefined && range.length < most)
  return range
}
