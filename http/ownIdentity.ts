/** A key that is bound to an identity makes threads, keys, schedules and subscriptions of that identity only. */
import type { Caller } from "./Caller.ts"
import { Refused } from "./errors.ts"

/** `own`: the identity that the caller is bound to, if any; `identity`: that of what is to be made. */
export const refuseForeign = (own: string | undefined, identity: string | undefined) =>
  own === undefined || identity === own
    ? undefined
    : new Refused({
        error: "permission_denied",
        code: "foreign_identity",
        message: "identity: this credential is bound to another identity, and makes nothing for others"
      })

/** Under a lease `identity` may be that of the thread only: an agent that acts for nobody gives none. */
export const refuseGiven = ({ lease, principal }: Caller["Service"], identity: string | undefined) =>
  lease === undefined || identity === undefined ? undefined : refuseForeign(principal.identity ?? "", identity)
