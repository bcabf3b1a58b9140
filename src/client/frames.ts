/**
 * One connection of a stream: its frames as they come.
 *
 * M1. A line that says nothing for 45 s is broken: the server sends something every 15.
 * M2. Nothing is held for a slow reader: what has not been taken stays with the server, which says what it left out.
 */
import { createParser } from "eventsource-parser"
import { failureOf, TroupeUnreachable } from "./errors.ts"

export interface Frame {
  readonly event: string
  readonly id?: string
  readonly data: unknown
}

const silenceMs = 45_000

/** Ends when the server ends it. */
export async function* readFrames(
  open: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal
): AsyncGenerator<Frame, void, undefined> {
  const silence = new AbortController()
  const expire = () => silence.abort(new TroupeUnreachable("The stream says nothing any more."))
  let timer = setTimeout(expire, silenceMs)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(expire, silenceMs)
  }
  const both = AbortSignal.any([signal, silence.signal])
  try {
    const response = await open(both)
    if (!response.ok) throw await failureOf(response)
    if (response.body === null) return
    let frames: Array<Frame> = []
    const parser = createParser({
      onEvent: ({ data, event = "message", id }) => {
        frames.push({ event, data: JSON.parse(data), ...(id === undefined ? {} : { id }) })
      }
    })
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        heard()
        parser.feed(value)
        const come = frames
        frames = []
        yield* come
      }
    } finally {
      // The connection ends with whoever leaves the loop.
      await reader.cancel().catch(() => undefined)
    }
  } finally {
    clearTimeout(timer)
  }
}
