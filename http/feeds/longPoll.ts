/**
 * Waits for messages of a feed as a request.
 *
 * W1. When the node leaves, so does whoever waits here: with what there is. When the credential ends, it is refused.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Bus } from "../../src/bus/Bus.ts"
import { awaitMessages, type Waiting } from "../../src/feeds/waiting.ts"
import type { Caller } from "../Caller.ts"
import { isRefused } from "../errors.ts"
import type { Ended, Streams } from "../streams/Streams.ts"

export const makeFeedPoll = (bus: Bus["Service"], streams: Streams["Service"]) =>
  Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    caller: Caller["Service"],
    wanted: Omit<Waiting<never>, "workspace" | "admitted" | "hurries">
  ) {
    let ended: Ended | undefined
    let ring = () => {}
    const waiting = streams.wait(request, caller, (why) => {
      ended = why
      ring()
    })
    if (isRefused(waiting)) return yield* waiting
    yield* Effect.addFinalizer(() => Effect.sync(waiting.release))
    return yield* awaitMessages<Ended>(
      bus,
      {
        ...wanted,
        workspace: caller.workspace,
        // Nothing more is told to whoever may not ask again.
        admitted: Effect.suspend(() => (ended === undefined ? Effect.void : Effect.fail(ended))),
        hurries: streams.draining
      },
      (wake) => {
        ring = wake
      }
    )
  }, Effect.scoped)
