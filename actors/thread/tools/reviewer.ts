/**
 * Reviews for agent hooks: each in a thread of the reviewing agent, which judges nothing but this
 * one message, runs no agent hooks itself (tools/toolkit.ts) and asks no other agents.
 *
 * Y1. The thread has the body of the delivery's id: a question that is asked again finds it.
 * Y2. Its cost is booked on the agent that is reviewed (kind.ts).
 */
import { Effect } from "effect"
import { sibling } from "../../../src/domain/ids.ts"
import { type Reviewing, ReviewFailure } from "../../../src/hooks/Reviewers.ts"
import { begunBy } from "./derivedIds.ts"
import type { Exchange } from "./exchange.ts"

export const makeReviewing =
  (exchange: Exchange): Reviewing =>
  ({ agentId, deliveryId, dry, hookId, hops, reviewed, spendsWithin = [], text, workspace }) =>
    exchange({
      workspace,
      agentId,
      text,
      threadId: sibling("thread", deliveryId),
      // The delivery's own body is that of the wait that an ask would open.
      inputId: begunBy("input", deliveryId),
      principal: { type: "agent", id: reviewed.agentId },
      born: {
        reviews: { ...reviewed, ...(dry === true ? {} : { hookId, deliveryId }) },
        spendsWithin: [reviewed.threadId, ...spendsWithin]
      },
      ...(hops === undefined ? {} : { hops }),
      ...(dry === true ? {} : { asker: reviewed.threadId })
    }).pipe(
      Effect.map(({ text }) => text),
      Effect.mapError(({ why }) => new ReviewFailure({ reason: `the reviewer's turn ${why}` }))
    )
