/** Authentication as the contract sees it: a middleware before every endpoint, and what it may refuse with. */
import { HttpApiMiddleware } from "effect/http-api"
import type { Caller } from "./Caller.ts"
import { everywhere, OutageResponse, refuses } from "./errors.ts"

/** Stands before every endpoint, and provides its Caller. Checks what comes in before the handler sees it. */
export class Authenticate extends HttpApiMiddleware.Service<Authenticate, { provides: Caller }>()(
  "troupe/http/Authenticate",
  {
    error: [...refuses(...everywhere), OutageResponse]
  }
) {}
