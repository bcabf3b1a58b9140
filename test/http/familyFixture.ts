/** Agents that have tools of the runtime itself. */
import { sharing, startServer, type TestServer } from "../setup/server.ts"
import { call, makeWorker } from "./toolFixture.ts"

/** The worker's server for agents with tools of the runtime. */
export const familyServer = sharing(() => startServer({ idleMs: 50, leaseTtlMs: 2_000 }))

export const all = ["thread", "agents", "connections"]
/** First the families are looked for, then what they hold is called. */
export const found = call("tool_search", { query: "thread agents connections" })

/** Of the server that a file of tests has started. */
export const makeFamilyTools = (server: () => TestServer) => {
  const worker = (profile: object = {}) => makeWorker(server().alpha, { families: all, ...profile })
  return { worker }
}
