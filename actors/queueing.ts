/**
 * People see what an actor's jobs stand in line for, wherever it lives. Another node is asked only while it says that
 * jobs stand in line there. No answer is as good as none waiting.
 */
import { Effect, Option, Schema } from "effect"
import { WaitingFor } from "../src/domain/thread.ts"
import type { ActorKind, ActorRef } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { freshBody } from "../src/seed.ts"
import type { Activation } from "./live.ts"
import { answerReply, type NodeReply } from "./messages.ts"
import type { Residents } from "./residents.ts"
import type { Router } from "./Router.ts"

/** Milliseconds that a reader waits for another node. */
const patienceMs = 500

const QueueQuestion = Schema.Struct({ look: Schema.Literal("waitingFor") })
const queueQuestion: typeof QueueQuestion.Type = { look: "waitingFor" }
const isAsked = Schema.is(QueueQuestion)

const readTold = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ waitingFor: Schema.optionalKey(WaitingFor) }))
)

export interface Queueing<Snapshot, Request> {
  readonly kind: ActorKind
  readonly lease: Pick<Lease["Service"], "fenced" | "incarnation" | "nodes" | "now">
  readonly residents: Pick<Residents<Snapshot, Request>, "get">
  readonly router: Pick<Router["Service"], "ask">
}

export const makeQueueing = <Snapshot, Request>({ kind, lease, residents, router }: Queueing<Snapshot, Request>) => {
  const here = ({ desk, ref }: Activation<Snapshot, Request>, workspace: string) =>
    ref.workspace === workspace && !lease.fenced() ? desk.waitingFor : undefined

  /** `owner`: the incarnation that has the actor by its row. */
  const waitingFor = ({ id, workspace }: ActorRef, owner: string | undefined): Effect.Effect<WaitingFor | undefined> =>
    Effect.suspend(() => {
      const actor = residents.get(id)
      if (actor !== undefined) return Effect.succeed(here(actor, workspace))
      const node = lease.nodes().find(({ incarnation, inLine = 0 }) => incarnation === owner && inLine > 0)
      if (node === undefined || owner === lease.incarnation()) return Effect.succeed(undefined)
      return router
        .ask(
          { to: node.incarnation, at: lease.now(), kind, workspace, id, command: freshBody(), request: queueQuestion },
          patienceMs
        )
        .pipe(
          Effect.map((reply) =>
            reply === undefined || !("answer" in reply)
              ? undefined
              : Option.getOrUndefined(readTold(reply.answer.body))?.waitingFor
          ),
          Effect.orElseSucceed(() => undefined)
        )
    })

  /** What another node asks, if it is this. */
  const answer = (id: string, workspace: string, request: unknown): NodeReply | undefined => {
    if (!isAsked(request)) return undefined
    const actor = residents.get(id)
    return answerReply({ kind: "found", body: JSON.stringify({ waitingFor: actor && here(actor, workspace) }) })
  }

  return { waitingFor, answer }
}
