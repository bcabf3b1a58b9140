/**
 * kill -9 while one agent waits for another, as a reviewer or with a question: a start finds the other's thread where
 * it has got to, and asks once.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { ended, logOf } from "../http/threadFixture.ts"
import { begin, call, makeWorker, only, outcomes, told } from "../http/toolFixture.ts"
import { databaseDuring } from "../setup/database.ts"
import { Client } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { Child } from "./Child.ts"
import { cli, madeKey, mortalEnv } from "./mortal.ts"

const database = await databaseDuring()
const env = mortalEnv(database.url)
let alive: Child | undefined
const key = await madeKey(env)
let client: Client

const start = async () => {
  alive = new Child(process.execPath, [cli, "serve"], { env })
  const [, base = ""] = await alive.until(/"url":"(http:[^"]+)"/)
  client = new Client(base, key)
}

await start()
afterAll(() => alive?.end("SIGKILL"))

const threadsOf = async (agentId: string): Promise<ReadonlyArray<string>> =>
  (await client.get(`/v1/threads?agentId=${agentId}`)).body.threads.map(
    ({ thread }: { readonly thread: { readonly id: string } }) => thread.id
  )

/** Kills the server once the other agent's turn runs, and starts another. */
const killWhile = async (other: string) => {
  await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
  await alive?.end("SIGKILL")
  await start()
}
const askedOnce = async (other: string) => {
  const threads = await threadsOf(other)
  assert.lengthOf(threads, 1)
  assert.deepStrictEqual(told(await logOf(client, threads[0]!, ended(1))), [
    "user_message",
    "assistant_message",
    "turn_completed"
  ])
}

describe("when the server is killed", () => {
  it("a reviewer's thread is found again, and its word counts", async () => {
    const reviewer = await makeWorker(client)
    const instructions = `/wait 1500ms\n/say {"decision":"deny","reason":"not today"}`
    const agentId = await makeWorker(client, {
      families: ["thread"],
      hooks: [
        { name: "review", point: "before_tool_call", processor: { type: "agent", agentId: reviewer, instructions } }
      ]
    })
    const threadId = await begin(client, agentId, call("tool_search", { query: "thread" }), "/say done")
    await killWhile(reviewer)
    assert.deepStrictEqual(outcomes(await logOf(client, threadId, ended(1))), ["hook_denied"])
    await askedOnce(reviewer)
  }, 120_000)

  it("a question to another agent is found again, and what was revealed is still in force", async () => {
    const other = await makeWorker(client)
    const agentId = await makeWorker(client, { families: ["agents"] })
    const threadId = await begin(
      client,
      agentId,
      call("tool_search", { query: "agents" }),
      "/then",
      call("agents.ask", { agentId: other, message: "/wait 1500ms\n/say late" }),
      "/then",
      call("agents.get", { agentId: other })
    )
    await killWhile(other)
    const [, answer, got] = outcomes(await logOf(client, threadId, ended(1)))
    assert.deepInclude(answer, { text: "late" })
    assert.deepInclude(got, { id: other })
    await askedOnce(other)
    assert.lengthOf(only(await logOf(client, threadId, ended(1)), "turn_completed"), 1)
  }, 120_000)
})
