/**
 * Calls show how toolsets stand: it is written down when it changes, and otherwise at most once a minute and node.
 *
 * K1. A call waits for none of it, and none asks the database anything but when there is something to write.
 * K2. One write of a toolset at a time, and at most one a second: of what was seen meanwhile only the last counts.
 */
import { Effect, FiberMap } from "effect"
import { LRUCache } from "lru-cache"
import type { DatabaseUnavailable } from "../database/Database.ts"
import type { Seen, ToolsetServer } from "../toolsets/status.ts"
import type { McpFailure } from "./mcp/McpFailure.ts"

const againMs = 60_000
const writeEvery = "1 second"
const heldToolsets = 20_000

/** The server itself has said no, in the protocol. */
const isAnswer = ({ opening, reason, rpcCode }: McpFailure) =>
  reason === "refused" && rpcCode !== undefined && opening !== true

/**
 * What a failed call shows of its server; undefined where it shows nothing: the server has answered, or nobody knows.
 */
const shown = ({ message, opening, reason, status }: McpFailure): Omit<Seen, "at"> | undefined => {
  switch (reason) {
    case "unauthorized":
      return { status: "unauthorized", reason: message }
    case "unreachable":
      return { status: "unreachable", reason: message }
    case "session":
      // A 4xx in a new session too is about the call.
      return opening === true || status === undefined || status === 404 || status === 410
        ? { status: "unreachable", reason: message }
        : undefined
    case "timeout":
    case "broken":
    case "lost":
    case "refused":
      return opening === true ? { status: "unreachable", reason: message } : undefined
    case "unasked":
      return undefined
  }
}

/** `failure` is of the last try; undefined where the call has ended otherwise. */
export const seenOf = (failure: McpFailure | undefined, at: number): Seen | undefined => {
  if (failure === undefined || isAnswer(failure)) return { status: "ready", at }
  const found = shown(failure)
  return found && { ...found, at }
}

/** What was seen, and of which server. */
export interface Sight {
  readonly workspace: string
  readonly toolsetId: string
  readonly server: ToolsetServer
  readonly seen: Seen
}

const keyOf = (workspace: string, toolsetId: string) => workspace + toolsetId

export const makeToolsetStanding = Effect.fnUntraced(function* (
  write: (sight: Sight) => Effect.Effect<void, DatabaseUnavailable>
) {
  const known = new LRUCache<string, Omit<Seen, "reason">>({ max: heldToolsets })
  const unwritten = new Map<string, Sight>()
  const writing = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(writing)()

  const learn = (key: string, { at, status, wanted }: Seen) => {
    known.set(key, { status, at, ...(wanted !== undefined && { wanted }) })
  }

  const writeAll = Effect.fnUntraced(function* (key: string) {
    for (let sight = unwritten.get(key); sight !== undefined; sight = unwritten.get(key)) {
      unwritten.delete(key)
      const { toolsetId, workspace } = sight
      yield* write(sight).pipe(
        Effect.catch(({ operation }) => {
          known.delete(key)
          return Effect.logWarning("what a call has shown of its toolset could not be written", {
            workspaceId: workspace,
            toolsetId,
            operation
          })
        })
      )
      yield* Effect.sleep(writeEvery)
    }
  })

  return {
    /** A call has shown this. */
    see: (sight: Sight) => {
      const { seen, toolsetId, workspace } = sight
      const key = keyOf(workspace, toolsetId)
      const last = known.get(key)
      const isSame = last?.status === seen.status
      const wanted = seen.wanted ?? (isSame ? last.wanted : undefined)
      if (isSame && wanted === last.wanted && seen.at - last.at < againMs) return
      learn(key, { ...seen, ...(wanted !== undefined && { wanted }) })
      unwritten.set(key, sight)
      run(key, writeAll(key), { onlyIfMissing: true })
    },
    /** A probe has found this, and it is written. What a call has shown since is later. */
    learn: (workspace: string, toolsetId: string, seen: Seen) => {
      const key = keyOf(workspace, toolsetId)
      const last = known.get(key)
      if (last === undefined || last.at <= seen.at) learn(key, seen)
    },
    forget: (workspace: string, toolsetId: string) => void known.delete(keyOf(workspace, toolsetId))
  }
})
