/** The workspace's hints: what they are about is asked for again. A tab without a stream asks every few seconds. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { followWorkspace } from "../../../src/client/follow.ts"
import { type Session, useSession } from "../session/Session.tsx"
import { changedThreads } from "./changed.ts"
import { looking } from "./looking.ts"
import { rest, whileSeen, withStream } from "./slots.ts"

/** Frames, and the lists that they make old. */
const stale: Readonly<Record<string, ReadonlyArray<string>>> = {
  status: ["threads", "inbox"],
  wait: ["inbox", "threads"],
  operation: ["operations", "inbox"],
  feed: ["feeds"],
  gap: ["threads", "thread pages", "inbox", "operations", "feeds"],
  /** A tab without a stream looks. */
  look: ["threads", "inbox", "operations", "feeds"],
  /** What happened between an answer and the stream's beginning is told by nobody. */
  ready: ["threads", "inbox", "operations", "feeds"]
}

const restMs = 300
const pollMs = 5_000

const threadOf = (data: unknown) =>
  typeof data === "object" && data !== null && "threadId" in data && typeof data.threadId === "string"
    ? data.threadId
    : undefined

const refresher = (queries: QueryClient) => {
  let names = new Set<string>()
  const looks = looking(async () => {
    const gathered = names
    names = new Set()
    await Promise.all([...gathered].map((name) => queries.invalidateQueries({ queryKey: [name] })))
  }, restMs)
  const refresh = (frame: string, data?: unknown) => {
    const threadId = threadOf(data)
    if (threadId !== undefined) changedThreads.add(threadId)
    const old = stale[frame] ?? []
    for (const name of old) names.add(name)
    if (old.length > 0) looks.tell()
  }
  return { refresh, stop: looks.stop }
}

const follow = async (
  { troupe }: Session,
  refresh: (frame: string, data?: unknown) => void,
  onLine: (isOpen: boolean) => void,
  signal: AbortSignal
) => {
  while (!signal.aborted) {
    try {
      const had = await withStream(signal, async () => {
        for await (const { data, event } of followWorkspace(troupe, {
          types: ["status", "wait", "operation", "feed"],
          signal,
          onLine
        }))
          refresh(event, data)
      })
      if (!had) refresh("look")
    } catch {
      // The key has ended: whatever is asked for next says so.
      onLine(false)
    }
    await rest(pollMs, signal)
  }
}

/** Whether the line to the server is there; undefined before the first word. */
export const useWorkspaceNews = (): boolean | undefined => {
  const session = useSession()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState<boolean>()
  useEffect(() => {
    const { refresh, stop } = refresher(queries)
    const leave = whileSeen((signal) => void follow(session, refresh, setOpen, signal))
    return () => {
      leave()
      stop()
    }
  }, [session, queries])
  return isOpen
}
