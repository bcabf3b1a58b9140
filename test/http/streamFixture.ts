/** Streams of events as tests watch them. */
import { type Client, sharing, startServer } from "../setup/server.ts"
import { Watcher } from "./sse.ts"
import { makeAgent } from "./threadFixture.ts"

/** The worker's server that pings, ticks and gives watchers up soon. */
const streamServer = sharing(() => startServer({ streams: { perKey: 100, pingMs: 200, tickMs: 50, stallMs: 1_500 } }))

export const ofThread = (threadId: string, query = "") => `/v1/threads/${threadId}/events/stream${query}`
export const isDone = (watcher: Watcher) => watcher.events("event").some(({ data }) => data.type === "turn_completed")

/** What a file's tests stand on: the worker's server, and an agent. */
export const streamStand = async () => {
  const server = await streamServer()
  const agentId = await makeAgent(server.alpha)
  const watch = (
    path: string,
    options: { readonly client?: Client; readonly headers?: Record<string, string>; readonly paused?: boolean } = {}
  ) => Watcher.open(server.base, path, (options.client ?? server.alpha).token!, options.headers, options.paused)
  return { agentId, server, watch }
}
