/** What streams send, frame by frame, for the reference: taken from a server, not made up. */
import { demoAgent } from "../../src/domain/demo.ts"
import type { HintFrame, ThreadFrame } from "./schemas.ts"
import { opening } from "./frames.ts"

const threadId = "thr_01m824srmge008y7mrqh5wg000"
const turnId = "trn_01m824ss8je00b6jegne3s2000"
const eventId = "evt_01m824ss8je00b6jegne3s2g01"
const principal = { type: "api_key", id: "key_01m824sqgqe009szv2n57n5000" } as const

/** A short turn, with `deltas=text`. */
export const threadFrames: ReadonlyArray<typeof ThreadFrame.Type> = [
  { event: "ready", data: { streamId: "stream_01m824srnte00bc2n8qzn68000", lastSeq: 0 } },
  {
    id: "1",
    event: "event",
    data: {
      seq: 1,
      eventId: "evt_01m824ss8je00b6jegne3s2000",
      threadId,
      turnId,
      type: "user_message",
      occurredAt: "2026-11-22T17:27:57.959Z",
      content: [{ type: "text", text: "What can you do?\n/say Whatever you script." }],
      principal,
      submitMode: "queue",
      inputId: "inp_01m824ss8je00b6jegne3s2000"
    }
  },
  { event: "status", data: { threadId, status: "running", lastSeq: 1 } },
  { event: "delta", data: { threadId, turnId, eventId, index: 0, text: "Whatever y" } },
  { event: "delta", data: { threadId, turnId, eventId, index: 1, text: "ou script." } },
  {
    id: "2",
    event: "event",
    data: {
      seq: 2,
      eventId,
      threadId,
      turnId,
      type: "assistant_message",
      occurredAt: "2026-11-22T17:27:58.092Z",
      content: [{ type: "text", text: "Whatever you script." }],
      modelId: "troupe/scripted",
      inReplyToSeq: 1
    }
  },
  {
    id: "3",
    event: "event",
    data: {
      seq: 3,
      eventId: "evt_01m824ss8je00b6jegne3s2002",
      threadId,
      turnId,
      type: "turn_completed",
      occurredAt: "2026-11-22T17:27:58.092Z",
      usage: { inputTokens: 15, outputTokens: 5, totalTokens: 20, estimatedCost: 0 },
      principal
    }
  },
  { event: "status", data: { threadId, status: "idle", lastSeq: 3 } }
]

/** The same turn, as watchers of its agent and of the workspace hear of it. */
export const hintFrames: ReadonlyArray<typeof HintFrame.Type> = [
  { event: "ready", data: { streamId: "stream_01m824ss9ee0094g1y7536n000" } },
  { event: "event", data: { threadId, agentId: demoAgent, turnId, seq: 1, type: "user_message" } },
  { event: "status", data: { threadId, status: "running", lastSeq: 1 } },
  { event: "event", data: { threadId, agentId: demoAgent, turnId, seq: 2, type: "assistant_message" } },
  { event: "event", data: { threadId, agentId: demoAgent, turnId, seq: 3, type: "turn_completed" } },
  { event: "status", data: { threadId, status: "idle", lastSeq: 3 } }
]

interface ExampleFrame {
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

/** As it goes over the wire. */
export const framesText = (frames: ReadonlyArray<ExampleFrame>) =>
  opening +
  frames
    .map(
      ({ data, event, id }) =>
        `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n`
    )
    .join("\n")

/** Each frame on its own, in the order in which they come: the schema is that of one frame. */
export const oneByOne = (frames: ReadonlyArray<ExampleFrame>) =>
  Object.fromEntries(
    frames.map((frame, index) => [
      `${index + 1}.${frame.event}`,
      { summary: `${index + 1}. ${frame.event}`, value: { ...frame, data: JSON.stringify(frame.data) } }
    ])
  )
