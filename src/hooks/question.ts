/** One question to a hook. */
import type { Hook, HookData } from "../domain/hook.ts"
import type { Principal } from "../domain/principal.ts"

export interface HookQuestion {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
  readonly turnId: string
  /** Who sent the message that is judged; of everything else, who began the turn. */
  readonly principal: Principal
  /** Who began the turn. */
  readonly turnPrincipal: Principal
  readonly hook: Hook
  /** The hook's place in its profile. */
  readonly index: number
  readonly deliveryId: string
  readonly data: HookData
  /** Threads that the thread was asked for by. */
  readonly spendsWithin?: ReadonlyArray<string>
  /** How many turns lead to this one by way of feeds; absent: none. */
  readonly hops?: number
  /** The thread is a reviewer's: it is not reviewed itself. */
  readonly reviewer: boolean
}
