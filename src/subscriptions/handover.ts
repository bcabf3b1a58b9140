/** What is handed over of messages that match: one text that fits into a message (contract C40.5). */
import { limits } from "../domain/limits.ts"
import type { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { cutToBytes, utf8Bytes } from "../domain/text.ts"

export interface Handed {
  readonly seq: number
  readonly text: string
  readonly tags: ReadonlyArray<string>
  readonly principal: Principal
  /** Milliseconds. */
  readonly appendedAt: number
}

interface Handover {
  readonly intent: string | undefined
  readonly feed: { readonly id: string; readonly name: string }
  /** Ascending, one at least. */
  readonly messages: ReadonlyArray<Handed>
}

const shortened = (text: string, bytes: number) =>
  utf8Bytes(text) <= bytes ? text : `${cutToBytes(text, bytes - utf8Bytes("…"))}…`

const line = ({ appendedAt, principal, seq, tags, text }: Handed) =>
  `#${seq} ${toTimestamp(appendedAt)}${tags.length === 0 ? "" : ` [${tags.join(", ")}]`} ` +
  `${principal.type}:${principal.id}: ${shortened(text, limits.batchTextBytes)}`

/** As long as the longest that says how to read what does not fit. */
const reserved = 200

export const handoverOf = ({ feed, intent = "", messages }: Handover): string => {
  const first = messages[0]?.seq ?? 0
  const last = messages.at(-1)?.seq ?? 0
  const range = first === last ? `message ${first}` : `messages ${first} to ${last}, ${messages.length} of them match`
  const head = `${intent.trim() === "" ? "New messages." : intent.trim()}\n\nFeed ${feed.name} (${feed.id}), ${range}:`
  let room = limits.userTextBytes - utf8Bytes(head) - reserved
  const lines: Array<string> = []
  for (const message of messages) {
    const text = line(message)
    const bytes = utf8Bytes(text) + 2
    if (bytes > room) break
    room -= bytes
    lines.push(text)
  }
  const rest = messages[lines.length]
  return [
    head,
    ...lines,
    ...(rest === undefined
      ? []
      : [`The rest does not fit: feeds.read with feedId ${feed.id}, startSeq ${rest.seq}, endSeq ${last} has it.`])
  ].join("\n\n")
}
