/** A command on its way to an actor: what it asks, and what goes with it. */
import type { Exit } from "effect"
import type { InboxRow } from "../src/journal/Journal.ts"
import type { ActorError, Reply } from "./Actor.ts"

export interface KeyOf {
  readonly scope: string
  readonly fingerprint: string
}

/** Of a command that has travelled, or been tried before. */
export interface Sent {
  /** Of the command: the same however often it is sent. */
  readonly id: string
  /** Milliseconds by the database's clock: when it was sent first. */
  readonly at: number
  /** It may have been taken already (H4 of `Host.ts`). */
  readonly redelivered: boolean
}

export interface Envelope<Request> {
  readonly request: Request
  readonly key?: KeyOf
  /** The inbox row that holds this command. */
  readonly inboxRow?: string
  readonly sent?: Sent
  /** How often its actor was lost before it was taken. */
  readonly timesLost?: number
}

export interface Item<Request> extends Envelope<Request> {
  /** Called once, after the commit or the refusal. Must not throw. */
  readonly reply: (exit: Exit.Exit<Reply, ActorError>) => void
  /** What waits in the inbox cannot be read here, and holds it up no longer. */
  readonly skipsInbox?: boolean
  /** The row that was first in the inbox when it let what waits there go first. */
  readonly waitedFor?: string
  /** The job whose outcome it is: what is not taken goes back to the actor's desk. */
  readonly task?: string
}

/** The command of an inbox row; undefined of one that this version cannot read. */
export const readInboxRow = <Request>(
  kind: { readonly decodeRequest: (sent: unknown) => Request | undefined },
  row: InboxRow
): Envelope<Request> | undefined => {
  let request: Request | undefined
  try {
    request = kind.decodeRequest(JSON.parse(row.command))
  } catch {
    return undefined
  }
  return request === undefined
    ? undefined
    : { request, inboxRow: row.id, sent: { id: row.id, at: 0, redelivered: true } }
}
