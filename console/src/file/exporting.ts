/** The whole of a thread, read from the server for its file: as it is at one moment, whatever comes meanwhile. */
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import type { LogEvent } from "../../../src/client/follow.ts"
import { headLine, logLines, type Step, type Thread } from "./format.ts"

const limit = 200

interface Reading {
  readonly troupe: Troupe
  readonly threadId: string
  readonly signal: AbortSignal
}

async function* eventsTo(
  { signal, threadId, troupe }: Reading,
  lastSeq: number,
  onRead: (seq: number) => void
): AsyncGenerator<LogEvent, void, undefined> {
  for (let afterSeq = 0; afterSeq < lastSeq; ) {
    const { events } = await answerOf(
      troupe.api.GET("/v1/threads/{threadId}/events", {
        params: { path: { threadId }, query: { afterSeq, limit: Math.min(limit, lastSeq - afterSeq) } },
        signal
      })
    )
    const last = events.at(-1)
    if (last === undefined) throw new Error(`The log has ${afterSeq} events, and should have ${lastSeq}.`)
    yield* events
    afterSeq = last.seq
    onRead(afterSeq)
  }
}

async function* stepsTo({ signal, threadId, troupe }: Reading, pos: number): AsyncGenerator<Step, void, undefined> {
  for (let afterPos = 0; afterPos < pos; ) {
    const { steps } = await answerOf(
      troupe.api.GET("/v1/actors/{actorId}/steps", {
        params: { path: { actorId: threadId }, query: { afterPos, limit } },
        signal
      })
    )
    const last = steps.at(-1)
    if (last === undefined) return
    for (const step of steps) if (step.pos <= pos) yield step
    afterPos = last.pos
  }
}

/** `onRead` is told how much is read, from 0 to 1. */
export const exported = async (
  reading: Reading & { readonly thread: Thread },
  withoutContent: boolean,
  onRead: (part: number) => void
): Promise<Blob> => {
  const { signal, thread, troupe } = reading
  const [{ actor }, { chart }] = await Promise.all([
    answerOf(troupe.api.GET("/v1/actors/{actorId}/chart", { params: { path: { actorId: thread.id } }, signal })),
    answerOf(troupe.api.GET("/v1/charts/{kind}", { params: { path: { kind: "thread" } }, signal }))
  ])
  const { lastSeq, pos } = actor
  const parts = [`${headLine({ thread, chart, exportedAt: new Date().toISOString() }, withoutContent)}\n`]
  const events = eventsTo(reading, lastSeq, (seq) => onRead(seq / lastSeq))
  for await (const line of logLines(events, stepsTo(reading, pos), withoutContent)) parts.push(`${line}\n`)
  return new Blob(parts, { type: "application/jsonl" })
}
