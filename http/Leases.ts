/**
 * The rights of an agent's lease at this moment.
 *
 * K1. A lease is good while its turn runs or waits, and until its own end: of a thread that lives here the actor is
 *     asked at every use; of another one the head is read, and believed for a second. An end that is written here is
 *     heard of at once, though its thread leaves memory before the next use. A turn that is over never comes back: that
 *     is remembered of many, and read in the head of the others.
 * K2. While an identity of the thread or of the agent is disabled, or once the agent is archived, it is refused: both
 *     are asked at every use, from memory (src/agents/Directory.ts, Y2).
 * K3. A lease is remembered under its SHA-256, with what never changes: no secret stays in memory, but the last of each
 *     open connection beside that connection.
 * K4. A token that no server key vouches for costs the database nothing.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { Threads } from "../actors/thread/Threads.ts"
import { Directory, type AgentView } from "../src/agents/Directory.ts"
import type { DatabaseUnavailable } from "../src/database/Database.ts"
import { AgentLeases, type OpenedLease } from "../src/keys/AgentLeases.ts"
import { hashKey } from "../src/keys/keyText.ts"
import { Lease } from "../src/journal/Lease.ts"
import { ThreadReads } from "../src/threads/ThreadReads.ts"
import type { Caller } from "./Caller.ts"
import type { Credential } from "./Credentials.ts"
import { makeTokenHash } from "./tokenHash.ts"

export class Leases extends Context.Service<
  Leases,
  {
    /** Whether it was good when it was last looked up. */
    readonly familiar: (token: string) => boolean
    /** What it stands for, where that is in memory: no waiting. `connection` is whatever object the token came on. */
    readonly remembered: (token: string, connection?: object) => Credential | undefined
    /** What it stands for; undefined where it is no lease, or void. */
    readonly find: (token: string) => Effect.Effect<Credential | undefined, DatabaseUnavailable>
  }
>()("troupe/http/Leases") {
  static readonly layer = Layer.effect(
    Leases,
    Effect.suspend(() => make)
  )
  /** Where there are no agents. */
  static readonly layerNone = Layer.succeed(
    Leases,
    Leases.of({ familiar: () => false, remembered: () => undefined, find: () => Effect.succeed(undefined) })
  )
}

/** Whether a credential is of this kind, be it good or not. */
export const isLease = (token: string) => token.startsWith("trl_")

const most = 10_000
/** How long a head that was read is believed. */
const freshMs = 1_000

interface Held {
  readonly opened: OpenedLease
  /** Of its thread. */
  readonly identity: string | undefined
  /** When the head said that the turn runs: milliseconds of this process. */
  readAt: number
  caller?: Caller["Service"]
  /** Of the agent, as the caller was made with it. */
  agentIdentity?: string | undefined
  /** Nobody waits for the end of its turn any more. */
  readonly forget: () => void
}

const callerOf = (
  { agentId, expiresAt, hops, threadId, turnId, workspace }: OpenedLease,
  identity: string | undefined
): Caller["Service"] => ({
  workspace,
  principal: { type: "agent", id: agentId, ...(identity === undefined ? {} : { identity }) },
  scheme: "AgentLeaseBearer",
  scopes: new Set(),
  keyId: turnId,
  lease: { agentId, threadId, turnId, hops },
  ...(identity === undefined ? {} : { identity }),
  expiresAt
})

/** A caller is the same object as long as it is remembered. */
const caller = (held: Held, agentIdentity: string | undefined) => {
  if (held.caller !== undefined && held.agentIdentity === agentIdentity) return held.caller
  held.agentIdentity = agentIdentity
  held.caller = callerOf(held.opened, held.identity ?? agentIdentity)
  return held.caller
}

const nothing = Effect.succeed(undefined)

const make = Effect.gen(function* () {
  const directory = yield* Directory
  const { now } = yield* Lease
  const leases = yield* AgentLeases
  const reads = yield* ThreadReads
  const threads = yield* Threads
  const known = new LRUCache<string, Held>({ max: most, dispose: ({ forget }) => forget() })
  const over = new LRUCache<string, true>({ max: most })

  const hashOf = makeTokenHash()

  const end = (hash: string) => {
    known.delete(hash)
    over.set(hash, true)
    return undefined
  }

  const look = Effect.fnUntraced(function* (hash: string, opened: OpenedLease) {
    const at = performance.now()
    // Before the head is read: the turn may end while that is under way.
    const forget = threads.onTurnEnd(opened.turnId, () => end(hash))
    const standing = yield* Effect.onError(reads.standing(opened.workspace, opened.threadId), () => Effect.sync(forget))
    if (over.has(hash) || standing?.agentId !== opened.agentId || standing.turnId !== opened.turnId) {
      forget()
      return end(hash)
    }
    const held: Held = { opened, identity: standing.identity, readAt: at, forget }
    known.set(hash, held)
    return held
  })

  const credential = (held: Held, agent: AgentView | undefined): Credential | undefined => {
    if (agent === undefined || agent.archived) return undefined
    const { workspace } = held.opened
    return {
      caller: caller(held, agent.identity),
      identityDisabled: [held.identity, agent.identity].some(
        (identity) => identity !== undefined && directory.identityDisabled(workspace, identity)
      )
    }
  }

  /** Whether its turn runs, as far as memory tells: undefined is no answer. */
  const runs = ({ threadId, turnId, workspace }: OpenedLease, readAt = -Infinity) => {
    const running = threads.runningTurn(workspace, threadId)
    if (running !== undefined) return running === turnId
    return performance.now() - readAt < freshMs ? true : undefined
  }

  return Leases.of({
    familiar: (token) => known.has(hashKey(token)),
    remembered: (token, connection) => {
      const held = known.get(hashOf(token, connection))
      if (held === undefined || held.opened.expiresAt <= now() || runs(held.opened, held.readAt) !== true)
        return undefined
      return credential(held, directory.peek(held.opened.workspace, held.opened.agentId))
    },
    find: (token) => {
      const hash = hashKey(token)
      if (over.has(hash)) return nothing
      const remembered = known.get(hash)
      const opened = remembered?.opened ?? leases.open(token)
      if (opened === undefined || opened.expiresAt <= now()) return nothing
      const isRunning = runs(opened, remembered?.readAt)
      if (isRunning === false) return Effect.succeed(end(hash))
      const held = isRunning === true && remembered !== undefined ? Effect.succeed(remembered) : look(hash, opened)
      return Effect.flatMap(held, (held) =>
        held === undefined
          ? nothing
          : Effect.map(directory.agent(opened.workspace, opened.agentId), (agent) => credential(held, agent))
      )
    }
  })
})
