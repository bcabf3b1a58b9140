/** Agents that have tools of the runtime itself. */
import { afterAll } from "vitest"
import { sharing, startServer } from "../setup/server.ts"
import { assertSound, call, makeWorker } from "./toolFixture.ts"

/** The worker's server for agents with tools of the runtime. */
const familyServer = sharing(() => startServer({ idleMs: 50, leaseTtlMs: 2_000 }))

export const all = ["thread", "agents", "connections"]
/** First the families are looked for, then what they hold is called. */
export const found = call("tool_search", { query: "thread agents connections" })

/** What a file's tests stand on. */
export const familyStand = async () => {
  const server = await familyServer()
  afterAll(() => assertSound(server))
  const worker = (profile: object = {}) => makeWorker(server.alpha, { families: all, ...profile })
  return { server, worker }
}
