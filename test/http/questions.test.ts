/** What a hook's question costs on its way, as messages.test.ts says it of a message. */
import { assert, describe, it } from "@effect/vitest"
import { deny, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { sharedServer } from "../setup/server.ts"
import { ended, logOf, makeThread, text } from "./threadFixture.ts"
import { makeWorker, told } from "./toolFixture.ts"

const server = await sharedServer()
const hooks = await during(startHookServer())

/** What JSON was written of something that says so, while `work` went on. */
const writtenOf = async (words: string, work: () => Promise<unknown>) => {
  const { stringify } = JSON
  const written: Array<string> = []
  JSON.stringify = (...args: ReadonlyArray<unknown>) => {
    const out = Reflect.apply(stringify, JSON, args)
    if (typeof out === "string" && out.includes(words)) written.push(out)
    return out
  }
  try {
    await work()
  } finally {
    JSON.stringify = stringify
  }
  return written
}

describe("a hook's question", () => {
  it("has its content serialised once, and the journal has what it had of it before", async () => {
    const endpoint = hooks.endpoint(deny("no"))
    const agentId = await makeWorker(server.alpha, {
      hooks: [{ name: "judge", point: "before_turn_start", processor: { type: "url", url: endpoint.url } }]
    })
    const threadId = await makeThread(server.alpha, agentId)
    const words = "asked about once"
    const content = JSON.stringify(text(words))
    const body = `{"content":${content}}`
    const written = await writtenOf(words, async () => {
      const answer = await server.alpha.post(`/v1/threads/${threadId}/messages`, body)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))), [
        "user_message",
        "hook_decision: deny",
        "turn_failed: hook_denied"
      ])
    })
    assert.deepStrictEqual(written, [content, endpoint.received()[0]?.text])
  })
})
