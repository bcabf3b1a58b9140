/** Waits of the desk of a file of tests. */
import type { TestServer } from "../setup/server.ts"
import { ended, logOf } from "./threadFixture.ts"
import { answer, type Desk, parked, type Wait } from "./waitFixture.ts"

/** Of the server and the desk that a file of tests has started. */
export const makeDeskTools = (server: () => TestServer, desk: () => Desk) => {
  const park = (agentId: string, lines: ReadonlyArray<string>, count?: number) =>
    parked(server().alpha, agentId, lines, count)
  const owed = () => park(desk().plain, [desk().tool("print", { document: "a" })])
  const asked = (...names: ReadonlyArray<string>) =>
    park(
      desk().asked,
      (names.length === 0 ? ["sign"] : names).map((name) => desk().tool(name, { document: "a" })),
      names.length || 1
    )
  const say = (threadId: string, wait: Wait, body: object, headers?: Record<string, string>) =>
    answer(server().alpha, threadId, wait, body, headers)
  const done = (threadId: string, turns = 1) => logOf(server().alpha, threadId, ended(turns))
  const detail = async (threadId: string) => (await server().alpha.get(`/v1/threads/${threadId}`)).body
  return { asked, detail, done, owed, park, say }
}
