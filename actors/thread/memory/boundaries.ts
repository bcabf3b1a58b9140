/**
 * Where a conversation may be cut, so that a summary takes the place of its beginning. Pure.
 *
 * Best is the end of a turn before the kept ones; where the running turn is too long itself, the end of a response in
 * it, whose last ones stay. A call is never cut from its result: a response begins once all calls before it have
 * theirs.
 */
import type { LogPlace, PromptMessage } from "../../../src/models/Model.ts"
import { summarisedTokens } from "./summaries.ts"

/** Responses of the running turn that stay. */
const keptResponses = 3

interface Cutting {
  /** The running turn. */
  readonly turnId: string
  /** Turns that stay, the running one included. */
  readonly keepTurns: number
  /** Tokens that one summary may take. */
  readonly room: number
}

/** Indices of the first message of each turn, a summary in front left out. */
const turnStarts = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<number> => {
  const starts: Array<number> = []
  let turnId: string | undefined
  for (const [index, message] of messages.entries()) {
    if (message.role === "summary" || message.turnId === turnId) continue
    turnId = message.turnId
    starts.push(index)
  }
  return starts
}

/** Indices of the responses of a turn, but for its first: nothing of the turn would be cut before that one. */
const laterResponses = (messages: ReadonlyArray<PromptMessage>, turnId: string, from: number, to: number) => {
  const found: Array<number> = []
  for (let index = from; index < to; index++) {
    const message = messages[index]
    if (message?.role === "assistant" && message.turnId === turnId) found.push(index)
  }
  return found.slice(1)
}

/** The last of the cuts before which there is room for everything; else the first. */
const widest = (messages: ReadonlyArray<PromptMessage>, cuts: ReadonlyArray<number>, room: number) => {
  let found = cuts[0]
  let tokens = 0
  let done = 0
  for (const cut of cuts) {
    for (; done < cut; done++) tokens += summarisedTokens(messages[done]!)
    if (tokens > room) break
    found = cut
  }
  return found
}

const fits = (messages: ReadonlyArray<PromptMessage>, cut: number, room: number) => {
  let tokens = 0
  for (let index = 0; index < cut; index++) tokens += summarisedTokens(messages[index]!)
  return tokens <= room
}

/** Up to where a round reaches: the place of the last fact before the cut. Undefined where nothing can be cut. */
export const boundaryOf = (
  messages: ReadonlyArray<PromptMessage>,
  { keepTurns, room, turnId }: Cutting
): LogPlace | undefined => {
  const starts = turnStarts(messages)
  const ends = starts.slice(1, Math.max(1, starts.length - keepTurns + 1))
  const first = ends[0]
  const running = messages.findIndex((message) => message.role !== "summary" && message.turnId === turnId)
  let cut: number | undefined
  if (first === undefined) {
    const later = running === -1 ? [] : laterResponses(messages, turnId, running, messages.length)
    cut = widest(messages, later.slice(0, Math.max(0, later.length + 1 - keptResponses)), room)
  } else if (fits(messages, first, room)) cut = widest(messages, ends, room)
  else {
    // One turn alone is too long for a summary: it is cut between its responses.
    const from = starts[0] ?? 0
    const within = laterResponses(messages, messages[from]?.turnId ?? "", from, first)
    cut = widest(messages, [...within, first], room)
  }
  const at = cut === undefined ? undefined : messages[cut]?.at
  return at === undefined ? undefined : { pos: at.pos - 1, seq: at.seq - 1 }
}
