/** Waits of the desk of a file of tests. */
import { afterAll } from "vitest"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { ended, logOf } from "./threadFixture.ts"
import { assertSound } from "./toolFixture.ts"
import { answer, furnish, parked, type Wait } from "./waitFixture.ts"

/** What a file's tests stand on: a server whose threads leave memory soon, and a desk. */
export const deskStand = async () => {
  const server = await during(startServer({ idleMs: 100 }))
  const desk = await furnish(server.alpha, "desk")
  afterAll(() => assertSound(server))
  const park = (agentId: string, lines: ReadonlyArray<string>, count?: number) =>
    parked(server.alpha, agentId, lines, count)
  const owed = () => park(desk.plain, [desk.tool("print", { document: "a" })])
  const asked = (...names: ReadonlyArray<string>) =>
    park(
      desk.asked,
      (names.length === 0 ? ["sign"] : names).map((name) => desk.tool(name, { document: "a" })),
      names.length || 1
    )
  const say = (threadId: string, wait: Wait, body: object, headers?: Record<string, string>) =>
    answer(server.alpha, threadId, wait, body, headers)
  const done = (threadId: string, turns = 1) => logOf(server.alpha, threadId, ended(turns))
  const detail = async (threadId: string) => (await server.alpha.get(`/v1/threads/${threadId}`)).body
  return { asked, desk, detail, done, owed, park, say, server }
}
