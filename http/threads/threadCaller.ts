/** Who asks a thread, on behalf of a request. */
import type { ThreadCaller } from "../../actors/thread/Threads.ts"
import type { Caller } from "../Caller.ts"
import type { Key } from "../Idempotency.ts"

export const threadCallerOf = ({ principal, scopes, workspace }: Caller["Service"], key?: Key): ThreadCaller => ({
  workspace,
  principal,
  ...(scopes.has("write") ? { anyModel: true as const } : {}),
  ...(key === undefined ? {} : { key })
})

/** The identity that all threads of this caller have; an administrator gives threads any, or none. */
export const ownIdentity = ({ identity, scopes }: Caller["Service"]) => (scopes.has("admin") ? undefined : identity)
