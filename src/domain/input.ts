/** An input of a thread while it waits: the same to the chart, to its row, and to whoever reads the queue. */
import { bornAt } from "./ids.ts"
import type { MessageContent, SubmitMode } from "./content.ts"
import type { Principal } from "./principal.ts"

export interface Input {
  readonly inputId: string
  /** Order of arrival. A promotion gives a new one. */
  readonly ord: number
  readonly content: MessageContent
  readonly mode: SubmitMode
  /** Whose words these are: whoever sent it, or edited it last. */
  readonly principal: Principal
  /** Who sent it first, where somebody else has edited it since. */
  readonly submittedBy?: Principal
  /** Milliseconds. */
  readonly queuedAt: number
  /** The selector that came with the input. */
  readonly model?: string
  /**
   * Of a steer that found a turn: no other turn applies it. When that turn ends first, the steer goes before the queue.
   */
  readonly forTurnId?: string
  /** The turn that this input retries: the prompt leaves it out. */
  readonly retryOf?: string
  /** How many turns lead to it, each begun by what the one before had appended to a feed; absent: none. */
  readonly hops?: number
}

/** How long a commit may take without the input counting as one that waited. */
const atOnceMs = 1000

/**
 * When an input was queued, as its admission alone lets one tell: one admitted at once was queued when it was admitted,
 * for one that waited the birth of its id is right to a few milliseconds. Where it is another moment, the admission
 * says so.
 */
export const queuedBefore = (inputId: string, admittedAt: number) => {
  const born = bornAt(inputId)
  return admittedAt - born < atOnceMs ? admittedAt : born
}
