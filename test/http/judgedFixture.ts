/** Turns of agents whose hooks judge them, what runs of them, and what is left of them in the log. */
import { afterAll } from "vitest"
import type { HookPoint } from "../../src/domain/event.ts"
import { type Received, type Reply, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { sharing, startServer } from "../setup/server.ts"
import { startMcpServer, usualTools } from "../tools/mcpServer.ts"
import type { Event } from "./threadFixture.ts"
import { addToolset, assertSound, call, fresh, makeWorker, only } from "./toolFixture.ts"

export type Point = typeof HookPoint.Type
export const points: ReadonlyArray<Point> = [
  "before_turn_start",
  "before_tool_call",
  "after_tool_result",
  "after_model_response"
]

/** Says more than its output. */
export const pixels = Buffer.alloc(90, 1).toString("base64")
export const shown = [
  { type: "text", text: "Five, as a picture:" },
  { type: "image", mimeType: "image/png", data: pixels }
]
export const picture = {
  name: "picture",
  run: () => ({ content: shown, structuredContent: { sum: 5 }, _meta: { cost: 3 } })
}

/** A response of calls only is not what these hooks are about. */
export const match = (point: Point) =>
  point === "after_model_response" ? { match: { conditions: [{ path: "/content/0", op: "exists" }] } } : {}
export const dataOf = (received: Received | undefined) => received?.body.data

/** The log of a turn of one call, with these events where the point has its place; the rest where it goes on. */
export const told1 = (point: Point, judged: ReadonlyArray<string>, ending?: string) => {
  const before = {
    before_turn_start: ["user_message"],
    before_tool_call: ["user_message", "tool_intent"],
    after_tool_result: ["user_message", "tool_intent"],
    after_model_response: ["user_message", "tool_intent", "tool_result"]
  }[point]
  const after = {
    before_turn_start: ["tool_intent", "tool_result", "assistant_message", "turn_completed"],
    before_tool_call: ["tool_result", "assistant_message", "turn_completed"],
    after_tool_result: ["tool_result", "assistant_message", "turn_completed"],
    after_model_response: ["assistant_message", "turn_completed"]
  }[point]
  if (ending === undefined) return [...before, ...judged, ...after]
  const ofCall = point === "before_tool_call" || point === "after_tool_result"
  return [
    ...before,
    ...judged,
    ...(ofCall ? [`tool_result: ${ending}`, "assistant_message", "turn_completed"] : [`turn_failed: ${ending}`])
  ]
}
/** Inputs of the calls that have run of `script`, judged at this point. */
export const ranOnce = (point: Point, denied: boolean) =>
  denied && point.startsWith("before_") ? [] : [{ text: "hello" }]

/** The worker's server for turns that are judged. */
const judgedServer = sharing(() => startServer({ idleMs: 50, leaseTtlMs: 20_000 }))

/** What a file's tests stand on: the worker's server, a server of tools and one of hooks, and the toolset of the tools. */
export const judgedStand = async () => {
  const server = await judgedServer()
  const mcp = await during(startMcpServer({ tools: [...usualTools, picture] }))
  const hooks = await during(startHookServer())
  const { id: toolsetId, namespace: ns } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  afterAll(() => assertSound(server))

  const hook = (point: Point, reply: Reply, more: object = {}) => ({
    name: fresh("hook"),
    point,
    ...match(point),
    processor: { type: "url", url: hooks.endpoint(reply).url },
    ...more
  })

  const worker = (...hooks: ReadonlyArray<object>) => makeWorker(server.alpha, { toolsetIds: [toolsetId], hooks })
  /** Inputs of the calls that have run: a tool that only reads may run twice under one id, which is as good as once. */
  const executed = (log: ReadonlyArray<Event>) =>
    only(log, "tool_intent").flatMap(
      ({ toolCallId }) => mcp.calls.find((ran) => ran.toolCallId === toolCallId)?.input ?? []
    )
  const script = () => [call(`${ns}.echo`, { text: "hello" }), "/say done"]
  return { executed, hook, hooks, mcp, ns, script, server, toolsetId, worker }
}
