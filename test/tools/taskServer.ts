/** An MCP server that runs its tool as a task, and only so; with a ledger of what it was asked about it. */
import { sendJson, sendResult, startLiar } from "./liar.ts"

export interface TaskState {
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
}

export interface TaskServerOptions {
  /** What tasks/get answers, one after the other, the last for ever; undefined: it does not know the task. */
  readonly states?: ReadonlyArray<TaskState | undefined>
  /** What tasks/result answers. */
  readonly result?: object
  /** Whether it declares that it runs tasks. */
  readonly declares?: boolean
  /** Waited for before the task is there. */
  readonly creating?: () => Promise<unknown>
}

const done: TaskState = { status: "completed" }
const text = (said: string) => ({ content: [{ type: "text", text: said }] })

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}

export const startTaskServer = async ({
  creating = async () => {},
  declares = true,
  result = text("found"),
  states = [{ status: "working" }, done]
}: TaskServerOptions = {}) => {
  const ledger: Array<string> = []
  const ttls: Array<unknown> = []
  /** `_meta` of each tools/call. */
  const metas: Array<Readonly<Record<string, unknown>>> = []
  let asked = 0
  const task = (state: TaskState) => ({
    taskId: "task-1",
    ttl: 60_000,
    pollInterval: 1,
    createdAt: "2026-01-01T00:00:00Z",
    lastUpdatedAt: "2026-01-01T00:00:00Z",
    ...state
  })
  const liar = await startLiar("*", async (response, { id, method, params }, honest) => {
    const { name, task: wanted } = record(params)
    if (method.startsWith("tasks/") || method === "tools/call") ledger.push(method)
    if (method === "tools/call") metas.push(record(record(params)._meta))
    switch (method) {
      case "initialize":
        return sendResult(response, id, {
          protocolVersion: "2025-11-25",
          serverInfo: { name: "tasks", version: "0" },
          capabilities: {
            tools: {},
            ...(declares && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } })
          }
        })
      case "tools/list":
        return sendResult(response, id, {
          tools: [
            { name: "research", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
            { name: "plain", inputSchema: { type: "object" } }
          ]
        })
      case "tools/call":
        if (name === "plain") return sendResult(response, id, text("plain"))
        if (wanted === undefined)
          return sendJson(response, {
            jsonrpc: "2.0",
            id,
            error: { code: -32601, message: "Tool research requires task augmentation" }
          })
        ttls.push(record(wanted).ttl)
        await creating()
        return sendResult(response, id, { task: task({ status: "working" }) })
      case "tasks/get": {
        const state = states[Math.min(asked++, states.length - 1)]
        return state === undefined
          ? sendJson(response, { jsonrpc: "2.0", id, error: { code: -32602, message: "Task not found" } })
          : sendResult(response, id, task(state))
      }
      case "tasks/result":
        return sendResult(response, id, result)
      case "tasks/cancel":
        return sendResult(response, id, task({ status: "cancelled" }))
      default:
        return honest()
    }
  })
  return { url: liar.url, ledger, metas, ttls, close: liar.close }
}
