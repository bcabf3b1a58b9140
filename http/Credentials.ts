/**
 * The rights behind a bearer credential, remembered for as long as that is safe.
 *
 * A1. A credential is remembered under its SHA-256: no secret stays in memory, but the last of each open connection
 *     beside that connection, whose next request most likely brings it again.
 * A2. Everything is forgotten when the auth revision changes: no revoke or disable is outlived by
 *     more than a beat of the lease, and on the node that did it by nothing (`forget`).
 * A3. A refusal is remembered for a second, so that whoever goes on with a bad credential costs the database nothing. A
 *     key that was just made works everywhere at once: nobody has tried it before.
 * A4. Uses are written off the request path, at most once a minute and key.
 * A5. A credential that was good when everything was forgotten is familiar: looking it up again is nobody's guess.
 * A6. Other nodes are told of a revoke or a disable; a node that is not reached learns it by A2.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { hashKey, parseKey, sameHash } from "../src/keys/keyText.ts"
import { Bus } from "../src/bus/Bus.ts"
import { Lease } from "../src/journal/Lease.ts"
import { type StoredKey, Keys } from "../src/keys/Keys.ts"
import type { DatabaseUnavailable } from "../src/database/Database.ts"
import { makeNoted, noteEveryMs } from "../src/database/noted.ts"
import type { Caller } from "./Caller.ts"

export interface Credential {
  readonly caller: Caller["Service"]
  readonly identityDisabled: boolean
}

export class Credentials extends Context.Service<
  Credentials,
  {
    /** The remembered credential, if any: no waiting. `connection` is whatever object the token came on. */
    readonly remembered: (token: string, connection?: object) => Credential | undefined
    /** Whether the credential was good when it was last looked up (A5). */
    readonly familiar: (token: string) => boolean
    /** Looks the credential up; undefined when it is unknown, revoked or expired. */
    readonly find: (token: string) => Effect.Effect<Credential | undefined, DatabaseUnavailable>
    /** Forgets everything: after a revoke or a disable on this node, or a hint from another. */
    readonly forget: Effect.Effect<void>
  }
>()("troupe/http/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const bus = yield* Bus
      const lease = yield* Lease
      const credentials = yield* makeCredentials({ now: lease.now, revision: lease.authRevision })
      // All nodes forget at once, if they can be told (A6).
      yield* bus.onAuthChanged(() => Effect.runSync(credentials.forget))
      return Credentials.of({ ...credentials, forget: Effect.sync(bus.authChanged) })
    })
  )
}

const most = 10_000
const refusedForMs = 1_000

/** A credential that is remembered, with when its use was noted last: milliseconds, by the database's clock. */
interface Remembered extends Credential {
  notedAt: number
}

/** The last good credential that came by a connection. It is good as long as `epoch` is the same. */
interface Brought {
  readonly token: string
  readonly epoch: number
  readonly credential: Remembered
}

const callerOf = (key: StoredKey): Caller["Service"] => ({
  workspace: key.workspace,
  principal: { type: key.principal, id: key.id, ...(key.identity === undefined ? {} : { identity: key.identity }) },
  scheme: "APIKeyBearer",
  scopes: new Set(key.scopes),
  keyId: key.id,
  ...(key.firstId === undefined ? {} : { firstKeyId: key.firstId }),
  ...(key.trigger === undefined
    ? {}
    : { trigger: { agentIds: new Set(key.trigger.agentIds), feedIds: new Set(key.trigger.feedIds) } }),
  ...(key.identity === undefined ? {} : { identity: key.identity }),
  ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt })
})

/** `now` in milliseconds by the database's clock. */
export const makeCredentials = Effect.fnUntraced(function* (clock: {
  readonly now: () => number
  readonly revision: () => number
}) {
  const keys = yield* Keys
  const known = new LRUCache<string, Remembered>({ max: most })
  const brought = new WeakMap<object, Brought>()
  const familiar = new LRUCache<string, true>({ max: most })
  /** Until when a hash is refused without a look (A3). */
  const refused = new LRUCache<string, number>({ max: most })
  const noteUse = yield* makeNoted({ now: clock.now, pace: "2 seconds", write: keys.touch })
  let revision = clock.revision()
  let epoch = 0

  const forget = () => {
    // The least recently used first: those are the first to go below.
    for (const hash of known.rkeys()) familiar.set(hash, true)
    known.clear()
    refused.clear()
    epoch++
  }
  const current = () => {
    const now = clock.revision()
    if (now !== revision) {
      revision = now
      forget()
    }
  }

  const live = ({ caller: { expiresAt } }: Credential) => expiresAt === undefined || expiresAt > clock.now()

  const noteUseOf = (credential: Remembered) => {
    if (clock.now() - credential.notedAt < noteEveryMs) return
    credential.notedAt = noteUse(credential.caller.workspace, credential.caller.keyId)
  }

  /** What came by the connection before is neither hashed nor looked up again. */
  const recall = (token: string, connection: object | undefined) => {
    const before = connection && brought.get(connection)
    if (before?.token === token && before.epoch === epoch) return before.credential
    const hash = hashKey(token)
    if (connection !== undefined && before !== undefined) {
      brought.delete(connection)
      // It was good until everything was forgotten, and may have been used too seldom beside the others to be known.
      if (before.token === token) familiar.set(hash, true)
    }
    const credential = known.get(hash)
    if (connection !== undefined && credential !== undefined) brought.set(connection, { token, epoch, credential })
    return credential
  }

  const remembered = (token: string, connection?: object) => {
    current()
    const credential = recall(token, connection)
    if (credential === undefined || !live(credential)) return undefined
    noteUseOf(credential)
    return credential
  }

  /** Remembers that this is no credential, unless somebody has made it one meanwhile. */
  const refuse = (hash: string, before: number) => {
    familiar.delete(hash)
    if (epoch !== before) return undefined
    refused.set(hash, clock.now() + refusedForMs)
    return undefined
  }

  const find = Effect.fnUntraced(function* (token: string) {
    const publicPart = parseKey(token)
    if (publicPart === undefined) return undefined
    current()
    const hash = hashKey(token)
    if ((refused.get(hash) ?? 0) > clock.now()) return undefined
    const before = epoch
    const key = yield* keys.findByPublic(publicPart)
    if (key === undefined || !sameHash(key.hash, hash) || key.revoked) return refuse(hash, before)
    const credential: Remembered = {
      caller: callerOf(key),
      identityDisabled: key.identityDisabled,
      notedAt: Number.NEGATIVE_INFINITY
    }
    if (!live(credential)) return refuse(hash, before)
    noteUseOf(credential)
    current()
    // What was read before a revoke must not be remembered after it.
    if (epoch === before) known.set(hash, credential)
    return credential
  })

  return Credentials.of({
    remembered,
    familiar: (token) => familiar.size > 0 && familiar.has(hashKey(token)),
    find,
    forget: Effect.sync(forget)
  })
})
