/** Servers that lie, stall, flood and break off when they are called or listened to: nothing hangs, and nothing runs twice. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { eventually } from "../waiting.ts"
import { type Lie, sendJson, sendResult, startLiar, stream } from "./liar.ts"
import { liarStand, lies, status } from "./lies.ts"

const { register, server } = await liarStand()

describe("a call that", () => {
  /** The outcomes of a tool that changes things, and of one that only looks. */
  const called = async (point: string, lie: Lie, timeoutMs = 60_000) => {
    const liar = await startLiar(point, lie)
    const answer = await register(liar.url)
    assert.deepStrictEqual([answer.status, answer.body.toolset.status], [201, "ready"], answer.text)
    const workspace = server.workspaces.alpha
    const outcomes = await server.runtime.runPromise(
      Effect.gen(function* () {
        const toolsets = yield* Toolsets
        const tools = yield* toolsets.tools(workspace, yield* toolsets.current(workspace, [answer.body.toolset.id]))
        return yield* Effect.forEach(tools, (tool) => toolsets.call(workspace, { ...tool, timeoutMs }, {}, "call_1"))
      })
    )
    const times = liar.times()
    await liar.close()
    return { outcomes, codes: outcomes.map(({ failure }) => failure?.code), times }
  }

  const unknown = ["tool_outcome_unknown", "toolset_unreachable"]
  const both = (code: string) => [code, code]

  for (const [what, lie, codes, times] of [
    // A tool that only looks is tried once more where nobody knows.
    ["is answered with 500", status(500), unknown, 3],
    ["is answered with 502", status(502), unknown, 3],
    ["is cut off before the answer", lies.destroy, unknown, 3],
    ["is cut off within the answer", lies.breakOff, unknown, 3],
    ["is accepted, and never answered", lies.accepted, unknown, 3],
    ["is answered by a stream without the answer", lies.emptyStream, unknown, 3],
    ["is answered with another's answer", lies.otherId, unknown, 3],
    // Both know that nothing was done.
    ["is answered with 503", status(503), both("toolset_unreachable"), 2],
    ["is answered with 429", status(429), both("toolset_unreachable"), 2],
    ["is answered with a redirect", status(302, { location: "http://127.0.0.1:1/" }), both("toolset_unreachable"), 2],
    ["is answered with 404 in every session", status(404), both("toolset_unreachable"), 4],
    ["is answered with 401", status(401), both("toolset_unauthorized"), 2],
    ["is answered with 403", status(403), both("toolset_unauthorized"), 2],
    // It was answered, with what is no answer.
    ["is answered with 400", status(400), both("tool_error"), 2],
    ["is answered with a page", lies.html, both("tool_error"), 2],
    ["is answered with broken JSON", (response) => sendJson(response, '{"jsonrpc":"2.0"'), both("tool_error"), 2],
    ["is answered with nothing", lies.nothing, both("tool_error"), 2],
    [
      "is answered with another result",
      (response, { id }) => sendResult(response, id, { content: "text" }),
      both("tool_error"),
      2
    ],
    [
      "is answered with a block of an unknown type",
      (response, { id }) => sendResult(response, id, { content: [{ type: "smell" }] }),
      both("tool_error"),
      2
    ],
    [
      "is answered with an error of the protocol",
      (response, { id }) =>
        sendJson(response, { jsonrpc: "2.0", id, error: { code: -32000, message: "x".repeat(100_000) } }),
      both("tool_error"),
      2
    ],
    ["is answered with more than is read", lies.flood, both("tool_error"), 2],
    ["is answered with a bomb", lies.bomb, both("tool_error"), 2],
    [
      "is answered with what nests too deep",
      (response, { id }) =>
        sendJson(
          response,
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}}`
        ),
      both("tool_error"),
      2
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie, ReadonlyArray<string>, number]>) {
    it(`${what} ends with ${[...new Set(codes)].join(" or ")}`, async () => {
      const found = await called("tools/call", lie)
      assert.deepStrictEqual(
        [found.codes, found.times],
        [[...codes], times],
        JSON.stringify(found.outcomes).slice(0, 500)
      )
      for (const { failure } of found.outcomes) assert.isAtMost(failure?.text.length ?? 0, 4_200)
    })
  }

  for (const [what, lie] of [
    ["is never answered", lies.hang],
    ["is answered drop by drop", lies.drip],
    ["is answered by a stream that says nothing", lies.silentStream],
    [
      "is answered by pings without an end",
      async (response) => {
        const { send } = stream(response)
        for (let id = 0; !response.destroyed; id++) {
          send({ jsonrpc: "2.0", id: `ping${id}`, method: "ping" })
          await sleep(5)
        }
      }
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie]>) {
    it(`${what} ends with tool_timeout`, async () => {
      const began = performance.now()
      assert.deepStrictEqual((await called("tools/call", lie, 300)).codes, ["tool_timeout", "tool_timeout"])
      assert.isBelow(performance.now() - began, 5_000)
    })
  }

  for (const [what, lie] of [
    [
      "is answered by a stream that goes on",
      (response, { id }) => {
        stream(response).send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } })
      }
    ],
    [
      "is answered twice",
      (response, { id }) => {
        const { send } = stream(response)
        for (const text of ["done", "again"])
          send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })
        response.end()
      }
    ],
    [
      "is answered after noise",
      (response, { id }) => {
        const { raw, send } = stream(response)
        raw(': comment\n\nevent: other\ndata: x\n\ndata: {\n\ndata: {"jsonrpc":"2.0"}\n\nid: \n\nretry: 0\n\n')
        for (const method of ["elicitation/create", "sampling/createMessage", "roots/list", "__proto__"])
          send({ jsonrpc: "2.0", id: method, method, params: {} })
        send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 99, progress: 1 } })
        send({ jsonrpc: "2.0", id: "other", result: {} })
        send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }], extra: { __proto__: null } } })
        response.end()
      }
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie]>) {
    it(`${what} has its answer`, async () => {
      assert.deepStrictEqual((await called("tools/call", lie)).outcomes, [{ output: "done" }, { output: "done" }])
    })
  }

  it("is taken up again where the stream says that it can be", async () => {
    // An event with an id promises that the rest can be read later, by a GET from there.
    const { codes, times } = await called("tools/call", (response) => {
      stream(response).raw("id: 7\ndata: \n\n")
      response.end()
    })
    // The GET is a 405 here: nobody has the rest.
    assert.deepStrictEqual([codes, times], [unknown, 3])
  })
})

/** Calls the first tool of a toolset so many times, one call after another. */
const use = (toolsetId: string, times: number) =>
  server.runtime.runPromise(
    Effect.gen(function* () {
      const workspace = server.workspaces.alpha
      const toolsets = yield* Toolsets
      const [tool] = yield* toolsets.tools(workspace, yield* toolsets.current(workspace, [toolsetId]))
      for (let i = 0; tool !== undefined && i < times; i++) yield* toolsets.call(workspace, tool, {}, `c${i}`)
    })
  )

it("a server whose stream to listen on ends at once is not listened to in a loop", async () => {
  const liar = await startLiar("listen", (response) => {
    stream(response).raw("retry: 0\n\n")
    response.end()
  })
  const answer = await register(liar.url)
  // A loop goes round in the time of an answer.
  await use(answer.body.toolset.id, 100)
  assert.isAtMost(liar.times(), 3)
  await liar.close()
})

it("a server that announces changes without an end is asked at most once in five seconds", async () => {
  let announced = 0
  const liar = await startLiar("listen", async (response) => {
    const { send } = stream(response)
    for (; !response.destroyed; announced++) {
      send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      await sleep(2)
    }
  })
  const answer = await register(liar.url)
  await use(answer.body.toolset.id, 1)
  await eventually(() => announced > 500, "it announces a change again and again")
  assert.isAtMost(liar.asked.filter((name) => name === "tools/list").length, 3)
  await liar.close()
})
