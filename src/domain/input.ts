/** An input of a thread while it waits: the same to the chart, to its row, and to whoever reads the queue. */
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
  /** Of a steer that found a turn: no other turn applies it. When that turn ends first, the steer goes before the queue. */
  readonly forTurnId?: string
  /** The turn that this input retries: the prompt leaves it out. */
  readonly retryOf?: string
}
