/**
 * Brings a command to an actor that is not in this node's memory, wherever it is.
 *
 * F1. The question goes to the node that was found to have the actor, else to the node that is to have it. A node is
 *     asked twice only if it leaves and is then found to be the owner, or by F4.
 * F2. A node that has no answer, or will not take the question, is passed over: this node claims the actor,
 *     and the journal says by its own clock whether the owner still lives. If so, the command has
 *     nobody to go to (`Unreachable`, elsewhere).
 * F3. A command that may have been taken by one who did not answer says so from then on (`again`). It is not refused
 *     because this node leaves: the journal says whether there is such an actor, and who owns it.
 * F4. A node that leaves claims nothing for its clients. Where whoever was said to own the actor has given it back, the
 *     node that is to have it is asked once more.
 */
import { Effect, Result } from "effect"
import { LRUCache } from "lru-cache"
import type { ActorRef, OwnedElsewhere } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { shardOf } from "../src/journal/shard.ts"
import { forwarded, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Reply, Unreachable } from "./Actor.ts"
import type { Envelope, Sent } from "./envelope.ts"
import { replyOf, actorErrorOf } from "./messages.ts"
import type { Placement } from "./Placement.ts"
import { patienceMs, type Router, storablePatienceMs } from "./Router.ts"

export interface Forwarding<Request> {
  readonly lease: Pick<Lease["Service"], "incarnation" | "nodes" | "now">
  readonly placement: Pick<Placement["Service"], "of">
  readonly router: Pick<Router["Service"], "ask">
  /** Takes the command here, if the actor can be had. */
  readonly tell: (
    ref: ActorRef,
    envelope: Envelope<Request>,
    owned: boolean
  ) => Effect.Effect<Reply, ActorError | OwnedElsewhere>
}

/** Nodes asked about one command: whoever has it, whoever was to have it, and one that it moved to meanwhile. */
const mostAsked = 3

/** How long it is remembered that an actor is not where it is to be: it goes there when it has rested. */
const rememberMs = 2_000
const mostRemembered = 10_000

export const makeForwarding = <Request>({ lease, placement, router, tell }: Forwarding<Request>) => {
  /** Actors that another node has than the one that is to have them. */
  const found = new LRUCache<string, { readonly node: string; readonly until: number }>({
    // Not `max`, for which room is made at once, on every node for every kind.
    maxSize: mostRemembered,
    sizeCalculation: () => 1
  })

  const remember = (id: string, node: string) => {
    found.set(id, { node, until: lease.now() + rememberMs })
  }
  const recall = (id: string) => {
    const known = found.get(id)
    if (known === undefined) return undefined
    if (known.until > lease.now() && lease.nodes().some(({ incarnation }) => incarnation === known.node))
      return known.node
    found.delete(id)
    return undefined
  }

  const unreachable = (id: string) => {
    found.delete(id)
    record(forwarded.with({ outcome: "unreachable" }))
    return new Unreachable({ retryAfterSeconds: 2, elsewhere: true })
  }

  return Effect.fnUntraced(function* (
    ref: ActorRef,
    envelope: Envelope<Request> & { readonly sent: Sent },
    storable: boolean
  ) {
    const { id } = ref
    const { key, request, sent } = envelope
    const question = { ...ref, at: sent.at, command: sent.id, request, ...(key === undefined ? {} : { key }) }
    const tried = new Set([lease.incarnation()])
    let redelivered = sent.redelivered
    const known = recall(id)
    let owned = known !== undefined
    let node = known ?? placement.of(shardOf(id))
    let wasAskedAgain = false
    for (;;) {
      if (node === undefined || tried.has(node) || tried.size > mostAsked) {
        const isSaidToBeHere = owned && node === lease.incarnation()
        const here = yield* Effect.result(
          tell(ref, { ...envelope, sent: { ...sent, redelivered } }, isSaidToBeHere || redelivered)
        )
        if (Result.isSuccess(here)) {
          if (tried.size > 1) record(forwarded.with({ outcome: "taken" }))
          return here.success
        }
        // F4: whoever is to have it takes it now.
        if (here.failure._tag === "Draining" && owned && !wasAskedAgain) {
          wasAskedAgain = true
          owned = false
          node = placement.of(shardOf(id))
          if (node !== undefined) tried.delete(node)
          continue
        }
        // F3: nobody owns it.
        if (here.failure._tag === "Draining" && redelivered) return yield* unreachable(id)
        if (here.failure._tag !== "OwnedElsewhere") return yield* here.failure
        // The journal has just found that node alive.
        node = here.failure.node
        owned = true
        if (tried.has(node) || tried.size > mostAsked) return yield* unreachable(id)
      }
      tried.add(node)
      const replied = yield* Effect.result(
        router.ask(
          {
            to: node,
            ...question,
            ...(owned ? { owned } : {}),
            ...(redelivered ? { again: redelivered } : {})
          },
          storable ? storablePatienceMs : patienceMs
        )
      )
      const reply = Result.isSuccess(replied) ? replied.success : undefined
      if (reply === undefined) {
        record(forwarded.with({ outcome: "unanswered" }))
        redelivered ||= Result.isSuccess(replied) || replied.failure.mayHaveTakenEffect
        node = undefined
      } else if ("unwilling" in reply) {
        record(forwarded.with({ outcome: reply.unwilling }))
        // It may own the actor all the same: the journal says.
        if (reply.unwilling === "draining" && !owned) tried.delete(node)
        node = undefined
      } else if ("elsewhere" in reply) {
        record(forwarded.with({ outcome: "moved" }))
        node = reply.elsewhere
        owned = reply.owned
      } else {
        if (owned) remember(id, node)
        if ("broken" in reply) return yield* Effect.die(new Error(`${id} broke on ${node}`))
        if ("failure" in reply) {
          record(forwarded.with({ outcome: "refused" }))
          return yield* actorErrorOf(reply.failure)
        }
        record(forwarded.with({ outcome: "answered" }))
        return replyOf(reply.answer)
      }
    }
  })
}
