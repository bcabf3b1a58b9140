/**
 * Questions of other nodes to an actor are answered where the actor is here or is to be here; else its place is told.
 */
import { Effect } from "effect"
import type { ActorRef, OwnedElsewhere } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { shardOf } from "../src/journal/shard.ts"
import type { ActorError, Reply } from "./Actor.ts"
import type { Envelope } from "./envelope.ts"
import { answerReply, failureReply, type NodeQuestion, type NodeReply } from "./messages.ts"
import type { Placement } from "./Placement.ts"
import type { Residents } from "./residents.ts"

interface Answering<Snapshot, Request> {
  readonly name: ActorRef["kind"]
  readonly kind: { readonly decodeRequest: (sent: unknown) => Request | undefined }
  readonly lease: Pick<Lease["Service"], "incarnation">
  readonly placement: Pick<Placement["Service"], "of">
  readonly residents: Pick<Residents<Snapshot, Request>, "has">
  readonly queueing: { readonly answer: (id: string, workspace: string, sent: unknown) => NodeReply | undefined }
  /** Nothing new comes into memory any more. */
  readonly closed: () => boolean
  readonly tell: (
    ref: ActorRef,
    envelope: Envelope<Request>,
    owned?: boolean
  ) => Effect.Effect<Reply, ActorError | OwnedElsewhere>
}

export const makeAnswering = <Snapshot, Request>({
  closed,
  kind,
  lease,
  name,
  placement,
  queueing,
  residents,
  tell
}: Answering<Snapshot, Request>) => {
  /** Where the actor is to be, if not here. */
  const away = (id: string): NodeReply | undefined => {
    if (closed()) return { v: 1, unwilling: "draining" }
    const node = placement.of(shardOf(id))
    return node === undefined || node === lease.incarnation() ? undefined : { v: 1, elsewhere: node, owned: false }
  }

  return ({
    again: redelivered = false,
    at,
    command,
    id,
    key,
    owned = false,
    request: sent,
    workspace
  }: NodeQuestion) =>
    Effect.suspend((): Effect.Effect<NodeReply> => {
      const queueReply = queueing.answer(id, workspace, sent)
      if (queueReply !== undefined) return Effect.succeed(queueReply)
      const request = kind.decodeRequest(sent)
      if (request === undefined) return Effect.succeed({ v: 1, unwilling: "malformed" })
      const elsewhere = residents.has(id) || owned ? undefined : away(id)
      if (elsewhere !== undefined) return Effect.succeed(elsewhere)
      return tell(
        { workspace, kind: name, id },
        { request, sent: { id: command, at, redelivered }, ...(key === undefined ? {} : { key }) },
        owned
      ).pipe(
        Effect.map(answerReply),
        Effect.catch((error) =>
          Effect.succeed<NodeReply>(
            error._tag === "OwnedElsewhere" ? { v: 1, elsewhere: error.node, owned: true } : failureReply(error)
          )
        ),
        Effect.catchDefect((defect) =>
          Effect.as(Effect.logError("an actor broke over another node's question", defect), {
            v: 1,
            broken: true
          } as const)
        )
      )
    })
}
