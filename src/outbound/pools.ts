/**
 * Connections to servers of others, by workspace and origin (scheme, host and port).
 *
 * P1. A workspace has a bounded number of origins and of connections. Where it is full, its own origins that nobody
 *     is asking make room, the least recently used first; its next request fails only where all of them are in use.
 *     No workspace ever takes room from another.
 * P2. A connection that nobody uses is closed after `keepAliveMs`, whatever its server wishes. An origin with neither
 *     connections nor requests is forgotten, and so is a workspace without origins.
 * P3. Only the workspaces that asked last keep connections that nobody uses: the operator's open files are bounded too.
 */
import { type buildConnector, type Dispatcher, Pool } from "undici"
import { adjust, outboundConnections, outboundRefused, record } from "../telemetry/metrics.ts"
import { outboundFailure } from "./OutboundFailure.ts"

export interface PoolLimits {
  /** Of a workspace. */
  readonly origins: number
  /** Of a workspace, over all its origins. */
  readonly connections: number
  /** Of a workspace with one origin. */
  readonly connectionsPerOrigin: number
  /** Workspaces that keep connections which nobody uses (P3). */
  readonly workspaces: number
  readonly keepAliveMs: number
}

/** A tool server holds one connection for as long as it is listened to, so a workspace may need many. */
export const usualPools: PoolLimits = {
  origins: 512,
  connections: 1_024,
  connectionsPerOrigin: 512,
  workspaces: 256,
  keepAliveMs: 10_000
}

/** A way to an origin, until `done` is called. */
export interface Loan {
  readonly dispatcher: Dispatcher
  readonly done: () => void
}

export interface Pools {
  /** Throws an OutboundFailure where the workspace has no room (P1). */
  readonly lend: (workspace: string, origin: string) => Loan
  readonly destroy: () => Promise<void>
}

const full = (why: "origins" | "connections", message: string) => {
  record(outboundRefused.with({ why }))
  return outboundFailure("connect", message)
}

interface Origin {
  readonly pool: Pool
  /** Requests that are under way. */
  asking: number
  /** Connections that are open or being opened. */
  open: number
}

/** Least recently used first. */
type Origins = Map<string, Origin>

const openOf = (origins: Origins) => {
  let open = 0
  for (const origin of origins.values()) open += origin.open
  return open
}

export const makePools = (connect: buildConnector.connector, limits: PoolLimits): Pools => {
  /** Least recently used first. */
  const workspaces = new Map<string, Origins>()

  const letGo = (origins: Origins, name: string, { pool }: Origin) => {
    origins.delete(name)
    void pool.destroy()
  }

  /** Lets go of what nobody is asking, for as long as there is too much. */
  const makeRoom = (origins: Origins, tooMuch: () => boolean) => {
    for (const [name, origin] of origins) {
      if (!tooMuch()) return
      if (origin.asking === 0) letGo(origins, name, origin)
    }
  }

  /** P2. */
  const tidy = (workspace: string, origins: Origins, name: string, origin: Origin) => {
    if (origin.asking > 0 || origin.open > 0) return
    if (origins.get(name) === origin) letGo(origins, name, origin)
    if (origins.size === 0 && workspaces.get(workspace) === origins) workspaces.delete(workspace)
  }

  const originOf = (workspace: string, origins: Origins, name: string): Origin => {
    const isFull = () => openOf(origins) >= limits.connections
    const counted: buildConnector.connector = (options, done) => {
      makeRoom(origins, isFull)
      if (isFull()) return done(full("connections", "the workspace has too many connections open"), null)
      origin.open++
      adjust(outboundConnections, 1)
      const closed = () => {
        origin.open--
        adjust(outboundConnections, -1)
        tidy(workspace, origins, name, origin)
      }
      connect(options, (error, socket) => {
        if (error !== null) {
          closed()
          return done(error, null)
        }
        socket.once("close", closed)
        done(null, socket)
      })
    }
    const origin: Origin = {
      asking: 0,
      open: 0,
      pool: new Pool(name, {
        allowH2: false,
        connect: counted,
        connections: limits.connectionsPerOrigin,
        pipelining: 1,
        keepAliveTimeout: limits.keepAliveMs,
        keepAliveMaxTimeout: limits.keepAliveMs,
        maxHeaderSize: 16 * 1024,
        // The caps of each exchange are sharper and exact.
        headersTimeout: 0,
        bodyTimeout: 0
      })
    }
    return origin
  }

  const originsOf = (workspace: string): Origins => {
    const held = workspaces.get(workspace)
    const origins = held ?? new Map<string, Origin>()
    workspaces.delete(workspace)
    workspaces.set(workspace, origins)
    if (held === undefined) {
      for (const [name, idle] of workspaces) {
        if (workspaces.size <= limits.workspaces) break
        if (idle === origins) continue
        makeRoom(idle, () => true)
        if (idle.size === 0) workspaces.delete(name)
      }
    }
    return origins
  }

  return {
    lend: (workspace, name) => {
      const origins = originsOf(workspace)
      const held = origins.get(name)
      if (held === undefined) {
        const isFull = () => origins.size >= limits.origins
        makeRoom(origins, isFull)
        if (isFull()) throw full("origins", "the workspace is asking too many hosts at once")
      }
      const origin = held ?? originOf(workspace, origins, name)
      origins.delete(name)
      origins.set(name, origin)
      origin.asking++
      return {
        dispatcher: origin.pool,
        done: () => {
          origin.asking--
          tidy(workspace, origins, name, origin)
        }
      }
    },
    destroy: async () => {
      const all = [...workspaces.values()].flatMap((origins) => [...origins.values()])
      workspaces.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy()))
    }
  }
}
