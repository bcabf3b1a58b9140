/** Whoever is bound to an identity makes threads and keys of that identity only. */
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
