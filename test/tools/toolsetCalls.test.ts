/** Calls of tools, of servers of both eras of the protocol: what they return, how they fail, and when they are over. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Tool } from "../../src/tools/Tool.ts"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeToolsetWorlds, text } from "./toolsetWorld.ts"

const server = await sharedServer()
const { run, within } = makeToolsetWorlds(server)

describe.each(["sessions", "modern"] as const)("a call of a tool (%s)", (era) => {
  it(
    "gives structuredContent, or the text of a single block, or the blocks",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("add", { a: 2, b: 3 }), { output: { sum: 5 } })
      assert.deepStrictEqual(await call("echo", { text: '{"not": "parsed"}' }), { output: '{"not": "parsed"}' })
      assert.deepStrictEqual(await call("blocks"), {
        output: [
          { type: "text", text: "one" },
          { type: "text", text: "two" }
        ]
      })
    })
  )

  it(
    "keeps what its tool says beside the output: other blocks, their annotations, _meta; of an image without room, that it was there",
    within(
      era,
      async ({ call }) => {
        const picture = {
          type: "image",
          mimeType: "image/png",
          data: "AAAA",
          annotations: { audience: ["user"], priority: 0.5 }
        }
        const seen = [{ type: "text", text: "As a picture:" }, picture]
        assert.deepStrictEqual(await call("shown"), {
          output: { sum: 5 },
          beside: { content: seen, meta: { "example.com/cost": 3 } }
        })
        const noted = { type: "text", text: "five", annotations: { priority: 1 } }
        assert.deepStrictEqual(await call("noted"), { output: "five", beside: { content: [noted] } })
        assert.deepStrictEqual(await call("large"), {
          output: [
            { type: "text", text: "large" },
            { type: "image", mimeType: "image/png", truncated: true, bytes: 300_000 }
          ]
        })
      },
      {
        tools: [
          {
            name: "shown",
            outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
            run: () => ({
              structuredContent: { sum: 5 },
              _meta: { "example.com/cost": 3 },
              content: [
                { type: "text", text: "As a picture:" },
                {
                  type: "image",
                  mimeType: "image/png",
                  data: "AAAA",
                  annotations: { audience: ["user"], priority: 0.5 }
                }
              ]
            })
          },
          { name: "noted", run: () => ({ content: [{ type: "text", text: "five", annotations: { priority: 1 } }] }) },
          {
            name: "large",
            run: () => ({
              content: [
                { type: "text", text: "large" },
                { type: "image", mimeType: "image/png", data: Buffer.alloc(300_000).toString("base64") }
              ]
            })
          }
        ]
      }
    )
  )

  it(
    "brings its id as idempotency key, in the message and in the header, and its input as it is",
    within(era, async ({ call, mcp }) => {
      const input = { text: "é\u0000\ud83d\ude00" }
      assert.deepStrictEqual(await call("echo", input, "call_7"), { output: input.text })
      assert.deepStrictEqual(mcp.calls, [
        {
          tool: "echo",
          input,
          toolCallId: "call_7",
          idempotencyKey: "call_7",
          authorization: null,
          cancelled: false,
          over: true
        }
      ])
    })
  )

  it(
    "fails with what the tool says went wrong",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("fail"), { failure: { code: "tool_error", text: "it went wrong" } })
      assert.deepStrictEqual(await call("crash"), { failure: { code: "tool_error", text: "out of order" } })
    })
  )

  it(
    "fails where the output breaks the tool's own schema, and says where",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("wrong"), {
        failure: { code: "tool_error", text: "the tool's output does not fit its schema: sum: must be number" }
      })
    })
  )

  it(
    "fails where a tool with an output schema gives no structuredContent",
    within(
      era,
      async ({ call }) => {
        assert.deepStrictEqual(await call("odd"), {
          failure: {
            code: "tool_error",
            text: "the tool's output does not fit its schema: it has no structuredContent"
          }
        })
      },
      { tools: [{ ...text("odd", "7"), outputSchema: { type: "object" } }] }
    )
  )

  it(
    "cuts an output of more than 256 KiB",
    within(era, async ({ call }) => {
      const most = 256 * 1024 - 2
      assert.deepStrictEqual(await call("big", { chars: most }), { output: "x".repeat(most) })
      const { output } = await call("big", { chars: most + 1 })
      assert.deepStrictEqual(Object.keys(output as object), ["truncated", "text"])
      assert.isAtMost(JSON.stringify(output).length, 256 * 1024)
      assert.isAbove(JSON.stringify(output).length, 256 * 1024 - 100)
    })
  )

  it(
    "ends with tool_timeout when its time is up, and is cancelled at the server",
    within(era, async ({ find, mcp, workspace }) => {
      const tool: Tool = { ...(await find("slow")), timeoutMs: 100 }
      const outcome = await run((toolsets) => toolsets.call(workspace, tool, { ms: 60_000 }, "call_slow"))
      assert.deepStrictEqual(outcome, { failure: { code: "tool_timeout", text: "no result within 100 ms" } })
      await eventually(() => mcp.calls[0]?.cancelled === true, "the call is cancelled")
    })
  )

  it(
    "is cancelled at the server when it is interrupted",
    within(era, async ({ find, mcp, workspace }) => {
      const tool = await find("slow")
      await run((toolsets) =>
        Effect.gen(function* () {
          const calling = yield* Effect.forkChild(toolsets.call(workspace, tool, { ms: 60_000 }, "call_gone"))
          yield* Effect.promise(() => eventually(() => mcp.calls.length === 1, "the call is there"))
          yield* Fiber.interrupt(calling)
        })
      )
      await eventually(() => mcp.calls[0]?.cancelled === true, "the call is cancelled")
    })
  )

  it(
    "keeps a structure whose image is too large without its bytes, which it says in words",
    within(
      era,
      async ({ call }) => {
        const { beside, output } = await call("photo")
        assert.deepStrictEqual(output, {
          content: [{ type: "image", mimeType: "image/png", data: "[image, image/png, 240000 bytes]" }]
        })
        assert.deepStrictEqual(beside, {
          content: [{ type: "image", mimeType: "image/png", truncated: true, bytes: 240_000 }]
        })
      },
      {
        tools: [
          {
            name: "photo",
            run: () => {
              const content = [{ type: "image", mimeType: "image/png", data: Buffer.alloc(240_000).toString("base64") }]
              return { content, structuredContent: { content } }
            }
          }
        ]
      }
    )
  )

  it(
    "is one of many at once, each with its own answer, over one session",
    within(era, async ({ call, mcp }) => {
      const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => call("add", { a: i, b: i })))
      assert.deepStrictEqual(
        outcomes,
        Array.from({ length: 50 }, (_, i) => ({ output: { sum: 2 * i } }))
      )
      // The probe's is closed.
      if (era === "sessions") await eventually(() => mcp.sessions() === 1, "one session")
    })
  )

  it(
    "ends with tool_not_found where the server does not have the tool any more",
    within(era, async ({ call, find, mcp, workspace }) => {
      const tool = await find("echo")
      await call("echo", { text: "x" })
      await mcp.offer([text("other", "x")], false)
      assert.deepStrictEqual(await run((toolsets) => toolsets.call(workspace, tool, { text: "x" }, "c")), {
        failure: { code: "tool_not_found", text: "the toolset's server does not have this tool any more" }
      })
    })
  )

  it(
    "ends with tool_error where the server has the tool and does not like the call",
    within(
      era,
      async ({ call }) => {
        assert.deepStrictEqual(await call("picky"), { failure: { code: "tool_error", text: "not like this" } })
      },
      {
        tools: [
          {
            name: "picky",
            run: () => {
              throw Object.assign(new Error("not like this"), { code: -32602 })
            }
          }
        ]
      }
    )
  )

  it(
    "ends with tool_not_found where the toolset is deleted",
    within(era, async ({ find, id, workspace }) => {
      const tool = await find("echo")
      assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
      assert.deepStrictEqual(await run((toolsets) => toolsets.call(workspace, tool, { text: "x" }, "c")), {
        failure: { code: "tool_not_found", text: "the toolset is not there any more" }
      })
    })
  )

  it(
    "ends with toolset_unreachable where nobody listens any more",
    within(era, async ({ call, close, find, workspace }) => {
      const [harmless, other] = [await find("put"), await find("delete.all")]
      assert.deepStrictEqual(await call("put"), { output: "put" })
      await close()
      const again = (tool: Tool) => run((toolsets) => toolsets.call(workspace, tool, {}, "c"))
      assert.strictEqual((await again(harmless)).failure?.code, "toolset_unreachable")
      assert.strictEqual((await again(other)).failure?.code, "toolset_unreachable")
    })
  )
})
