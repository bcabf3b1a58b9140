/**
 * A response of many calls, whose schema takes long over each input: its thread is not held for as long as they would
 * take.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { addToolset, assertSound, call, makeWorker, only, outcomes, turnOf } from "./toolFixture.ts"

const server = await sharedServer()
afterAll(() => assertSound(server))

const worker = async (inputSchema: object) => {
  const { id, namespace } = await addToolset(server.alpha, { kind: "client", tools: [{ name: "ask", inputSchema }] })
  return { name: `${namespace}.ask`, agentId: await makeWorker(server.alpha, { toolsetIds: [id] }) }
}

describe("the calls of a response", () => {
  it("are each held against their schema", async () => {
    const { agentId, name } = await worker({ type: "object", required: ["text"] })
    const log = await turnOf(server.alpha, agentId, ...Array.from({ length: 128 }, () => call(name)))
    assert.deepStrictEqual(
      outcomes(log),
      Array.from({ length: 128 }, () => "tool_input_invalid")
    )
  })

  it("have some seconds for it together; those that come later are refused unchecked", {
    timeout: 60_000
  }, async () => {
    const { agentId, name } = await worker({ type: "object", properties: { s: { pattern: "^(?=(a+)+$)b" } } })
    const began = performance.now()
    const log = await turnOf(
      server.alpha,
      agentId,
      ...Array.from({ length: 64 }, () => call(name, { s: `${"a".repeat(40)}!` }))
    )
    assert.isBelow(performance.now() - began, 30_000)
    assert.deepStrictEqual(
      outcomes(log),
      Array.from({ length: 64 }, () => "tool_input_invalid")
    )
    const texts = only(log, "tool_result").map(({ failureText }) => failureText)
    assert.strictEqual(
      texts.at(-1),
      "the input was not checked: the schemas of this response's calls took more than 10 s together"
    )
  })
})
