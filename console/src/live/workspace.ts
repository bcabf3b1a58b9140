/** The workspace's hints: what they are about is asked for again. A tab without a stream asks every few seconds. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { followWorkspace } from "../../../src/client/follow.ts"
import { type Session, useSession } from "../session/Session.tsx"
import { rest, whileSeen, withStream } from "./slots.ts"

/** Frames, and the lists that they make old. */
const stale: Readonly<Record<string, ReadonlyArray<string>>> = {
  status: ["threads", "inbox"],
  wait: ["inbox", "threads"],
  operation: ["operations", "inbox"],
  feed: ["feeds"],
  gap: ["threads", "inbox", "operations", "feeds"],
  ready: []
}

const gatherMs = 300
const pollMs = 5_000

const refresher = (queries: QueryClient) => {
  let names = new Set<string>()
  let isWaiting = false
  const flush = () => {
    isWaiting = false
    const gathered = names
    names = new Set()
    for (const name of gathered) void queries.invalidateQueries({ queryKey: [name] })
  }
  return (frame: string) => {
    for (const name of stale[frame] ?? []) names.add(name)
    if (isWaiting) return
    isWaiting = true
    setTimeout(flush, gatherMs)
  }
}

const follow = async (
  { troupe }: Session,
  refresh: (frame: string) => void,
  onLine: (isOpen: boolean) => void,
  signal: AbortSignal
) => {
  while (!signal.aborted) {
    try {
      const had = await withStream(signal, async () => {
        for await (const { event } of followWorkspace(troupe, {
          types: ["status", "wait", "operation", "feed"],
          signal,
          onLine
        }))
          refresh(event)
      })
      if (!had) refresh("gap")
    } catch {
      // The key has ended, or may not read: whatever is asked for next says so.
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
    const refresh = refresher(queries)
    return whileSeen((signal) => void follow(session, refresh, setOpen, signal))
  }, [session, queries])
  return isOpen
}
