/**
 * Stored API keys, as authentication reads them. The rows themselves are written where keys are
 * issued and revoked; the layer over PostgreSQL is `postgres.ts`.
 *
 * K1. A key's secret is never stored: only the SHA-256 of the whole key text.
 * K2. Every revoke, expiry change and disable of an identity raises the auth revision in the same
 *     transaction, so that no node trusts its cache for longer than a beat of its lease.
 */
import { Context, type Effect } from "effect"
import type { KeyKind, Scope, TriggerContent } from "./apiKey.ts"
import type { DatabaseUnavailable } from "../database/Database.ts"
import type { Note } from "../database/noted.ts"

export interface StoredKey {
  /** `wsp_…` */
  readonly workspace: string
  /** `key_…` */
  readonly id: string
  /** Of one that took the place of another: the key that stood there first. */
  readonly firstId?: string
  /** SHA-256 of the key text, 64 hex digits (`src/keys/keyText.ts`, hashKey). */
  readonly hash: string
  readonly scopes: ReadonlyArray<Scope>
  /** What a request with this key is recorded as. */
  readonly principal: KeyKind
  /** Of a trigger: all that it may do. */
  readonly trigger?: TriggerContent
  readonly identity?: string
  /** The key's identity is disabled: every request is refused with 403. */
  readonly identityDisabled: boolean
  /** Milliseconds. */
  readonly expiresAt?: number
  readonly revoked: boolean
}

export class Keys extends Context.Service<
  Keys,
  {
    /** The key whose public part this is, in whatever workspace. One indexed read. */
    readonly findByPublic: (publicPart: string) => Effect.Effect<StoredKey | undefined, DatabaseUnavailable>
    /** Notes when keys were last used (milliseconds). Called off the request path, at most once a minute and key. */
    readonly touch: (uses: ReadonlyArray<Note>) => Effect.Effect<void, DatabaseUnavailable>
  }
>()("troupe/keys/Keys") {}
