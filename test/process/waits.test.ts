/**
 * kill -9 while a thread waits: what it waits for is there again after a start, is answered from a
 * terminal and by a worker, and the turn goes on, once.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Client } from "../setup/server.ts"
import { databaseDuring } from "../setup/database.ts"
import { ended, logOf } from "../http/threadFixture.ts"
import { makeWorker, outcomes, told, waitsOf } from "../http/toolFixture.ts"
import { answer, asking, decision, furnish, parked, pathOf } from "../http/waitFixture.ts"
import { eventually } from "../waiting.ts"
import { Child } from "./Child.ts"
import { cli, madeKey, mortalEnv } from "./mortal.ts"

const run = promisify(execFile)

const database = await databaseDuring()
const env = mortalEnv(database.url)
let alive: Child | undefined
const key = await madeKey(env)
let client: Client

const start = async () => {
  alive = new Child(process.execPath, [cli, "serve"], { env })
  const [, base = ""] = await alive.until(/"url":"(http:[^"]+)"/)
  return (client = new Client(base, key))
}
const killAndStart = async () => {
  await alive?.end("SIGKILL")
  await start()
}

const desk = await furnish(await start(), "desk")
afterAll(() => alive?.end("SIGKILL"))

/** Until the node that was killed counts as dead, a thread that it still held is answered with 503. */
const insist = async (send: () => ReturnType<Client["post"]>) => {
  for (const deadline = Date.now() + 10_000; ; ) {
    const answer = await send()
    if (answer.status !== 503 || Date.now() > deadline) return answer
    await new Promise((later) => setTimeout(later, 100))
  }
}

const troupe = async (...args: ReadonlyArray<string>) =>
  (await run(process.execPath, [cli, ...args], { env: { ...process.env, TROUPE_URL: client.base, TROUPE_KEY: key } }))
    .stdout

describe("a thread that waits when its server is killed", () => {
  it("still does after a start: the answer completes the turn", async () => {
    const { threadId, wait } = await parked(client, desk.plain, [desk.tool("print", { document: "a" }), "/say printed"])
    await killAndStart()
    assert.deepStrictEqual((await client.get(pathOf(threadId, wait))).body, { wait })
    assert.deepStrictEqual(
      (await client.get("/v1/tools/calls")).body.calls.map((call: { readonly waitId: string }) => call.waitId),
      [wait.id]
    )
    const done = await insist(() => client.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: "ok" }))
    assert.strictEqual(done.status, 200, done.text)
    const log = await logOf(client, threadId, ended(1))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "wait_created",
      "wait_resolved: result",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
  }, 30_000)

  it("knows its answers when it is killed once more between them", async () => {
    const {
      threadId,
      waits: [first, second]
    } = await parked(client, desk.asked, [desk.tool("print"), desk.tool("sign")], 2)
    assert.strictEqual((await answer(client, threadId, first!, decision("deny"))).status, 200)
    await killAndStart()
    assert.strictEqual((await insist(() => answer(client, threadId, first!, decision("deny")))).status, 200)
    assert.strictEqual((await answer(client, threadId, first!, decision("allow"))).status, 409)
    assert.strictEqual((await insist(() => answer(client, threadId, second!, decision("deny")))).status, 200)
    assert.deepStrictEqual(outcomes(await logOf(client, threadId, ended(1))), ["hook_denied", "hook_denied"])
  }, 30_000)

  it("is told of an expiry that came while nobody was there", async () => {
    const agentId = await makeWorker(client, {
      toolsetIds: [desk.toolsetId],
      hooks: [asking("before_tool_call", { asyncTimeoutMs: 1_000 })]
    })
    const { threadId, wait } = await parked(client, agentId, [desk.tool("sign")])
    await alive?.end("SIGKILL")
    await eventually(() => Date.now() > Date.parse(String(wait.expiresAt)), "its time is over")
    await start()
    assert.deepStrictEqual(outcomes(await logOf(client, threadId, ended(1))), ["wait_expired"])
    assert.strictEqual((await answer(client, threadId, wait, decision("allow"))).status, 410)
  }, 30_000)
})

describe("from a terminal", () => {
  it("what waits is listed, approved and denied; refusals are the server's own words", async () => {
    const { threadId, waits } = await parked(
      client,
      desk.asked,
      [desk.tool("print", { document: "first" }), desk.tool("sign", { document: "second\u001b[31m" })],
      2
    )
    const listed = await troupe("waits")
    assert.match(listed, /^THREAD +WAIT +TYPE +TARGET +EXPIRES +ABOUT +INPUT/)
    for (const { id } of waits) assert.match(listed, new RegExp(`${threadId} +${id} +hook_ask +client `))
    assert.include(listed, `{"document":"first"}`)
    assert.notInclude(listed, "\u001b")
    const [yes, no] = waits.map(({ id }) => id)
    assert.match(
      await troupe("approve", "--yes", threadId, yes!, "--reason", "Looks right", "--scope", "thread"),
      /allow/
    )
    const { wait } = JSON.parse(await troupe("deny", threadId, no!, "--reason", "Not today", "-o", "json"))
    assert.deepInclude(wait.waitResult, { outcome: "deny", reason: "Not today" })
    const failed = await troupe("approve", threadId, no!, "--yes").then(
      () => undefined,
      (error: { readonly code: number; readonly stderr: string }) => error
    )
    assert.strictEqual(failed?.code, 1)
    assert.match(failed?.stderr ?? "", /409 wait_already_resolved: the wait was answered already: deny by api_key key_/)
    const [call] = await waitsOf(client, threadId)
    assert.match(
      await troupe("approve", threadId, call!.id, "--yes").catch((error: { readonly stderr: string }) => error.stderr),
      /400 wait_type_mismatch/
    )
    assert.deepInclude((await client.get(pathOf(threadId, { id: yes! }))).body.wait.waitResult, {
      outcome: "allow",
      reason: "Looks right"
    })
  }, 30_000)
})
