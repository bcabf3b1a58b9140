/** A response of many calls, whose schemas and inputs are strangers': it does not hold the node while it is judged. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { startServer, type TestServer } from "../setup/server.ts"
import { addToolset, assertSound, call, makeWorker, outcomes, turnOf } from "./toolFixture.ts"

/** Turns of the event loop so far, and in which of them an input was held against its schema. */
const loop = vi.hoisted(() => ({ turns: 0, judged: new Array<number>() }))
vi.mock(import("../../src/tools/jsonSchema.ts"), async (original) => {
  const actual = await original()
  return {
    ...actual,
    validate: (schema: unknown, value: unknown) => {
      loop.judged.push(loop.turns)
      return actual.validate(schema, value)
    }
  }
})

let server: TestServer
beforeAll(async () => { server = await startServer() })
afterAll(async () => {
  await assertSound(server)
  await server.stop()
})

describe("the calls of a response", () => {
  it("are each held against their schema in a turn of the event loop of its own", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "client", tools: [{ name: "ask", inputSchema: { type: "object", required: ["text"] } }] })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const count = () => {
      loop.turns++
      running = setImmediate(count)
    }
    let running = setImmediate(count)
    const log = await turnOf(server.alpha, agentId, ...Array.from({ length: 128 }, () => call(`${namespace}.ask`)))
    clearImmediate(running)
    assert.deepStrictEqual(outcomes(log), Array.from({ length: 128 }, () => "tool_input_invalid"))
    assert.lengthOf(loop.judged, 128)
    assert.strictEqual(new Set(loop.judged).size, 128)
  })
})
