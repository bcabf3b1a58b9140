/**
 * Troupe itself.
 *
 * Mode A: create a thread, submit a message, poll the log every 2 ms until turn_completed.
 * Mode B: create the thread with its first message, and hear of the end on the agent's one stream.
 */
import { type Adapter, at, connect, events, pause, pollMs, type Target, text } from "./Adapter.ts"

const content = (message: string) => [{ type: "text", text: message }]

const ended = (type: unknown) => {
  if (type === "turn_failed" || type === "turn_cancelled") throw new Error(`the turn ended with ${type}`)
  return type === "turn_completed"
}

const agentOf = (agents: ReadonlyArray<string>, index: number) => {
  const agent = agents[index % agents.length]
  if (agent === undefined) throw new Error("there is no agent to send to")
  return agent
}

/** Every request to a node at random. */
const spread = (target: Target) => {
  const nodes = [target.origin, ...(target.others ?? [])].map((origin) => connect({ ...target, origin }))
  const any = () => nodes[Math.floor(Math.random() * nodes.length)] ?? connect(target)
  return {
    get: (path: string) => any().get(path),
    post: (path: string, body: unknown) => any().post(path, body),
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    }
  }
}

export const polled: Adapter = async (target, index) => {
  const http = target.others === undefined ? connect(target) : spread(target)
  const agentId = agentOf(target.agents, index)
  return {
    turn: async (message) => {
      const thread = `/v1/threads/${text(await http.post("/v1/threads", { agentId }), "thread", "id")}`
      await http.post(`${thread}/messages`, { content: content(message) })
      for (let after = 0; ; ) {
        for (const event of events(await http.get(`${thread}/events?afterSeq=${after}`))) {
          after = Math.max(after, Number(at(event, "seq")))
          if (ended(at(event, "type"))) return
        }
        await pause(pollMs)
      }
    },
    close: http.close
  }
}

export const streamed: Adapter = async (target, index) => {
  const http = connect(target)
  const listener = connect(target)
  const agentId = agentOf(target.agents, index)
  const response = await listener.client.request({
    method: "GET",
    path: `/v1/agents/${agentId}/events/stream`,
    headers: { ...listener.authorization, accept: "text/event-stream" },
    bodyTimeout: 0
  })
  if (response.statusCode !== 200)
    throw new Error(`the stream answered ${response.statusCode} ${await response.body.text()}`)

  // The hint of the end may come before the answer that names the thread.
  const done = new Map<string, unknown>()
  let awaited:
    | { readonly thread: string; readonly resolve: () => void; readonly reject: (cause: unknown) => void }
    | undefined
  let opened = () => {}
  const ready = new Promise<void>((resolve) => {
    opened = resolve
  })
  const settle = () => {
    if (awaited === undefined || !done.has(awaited.thread)) return
    const { thread, resolve, reject } = awaited
    const type = done.get(thread)
    done.delete(thread)
    awaited = undefined
    try {
      if (ended(type)) resolve()
    } catch (cause) {
      reject(cause)
    }
  }
  const onFrame = (frame: string) => {
    const name = /^event: ?(.*)$/m.exec(frame)?.[1]
    if (name === "ready") opened()
    if (name === "gap" || name === "bye") awaited?.reject(new Error(`the stream said ${name}`))
    if (name !== "event") return
    const data: unknown = JSON.parse(/^data: ?(.*)$/m.exec(frame)?.[1] ?? "null")
    const type = at(data, "type")
    if (type !== "turn_completed" && type !== "turn_failed" && type !== "turn_cancelled") return
    done.set(text(data, "threadId"), type)
    settle()
  }
  let held = ""
  response.body
    .setEncoding("utf8")
    .on("data", (chunk: string) => {
      held += chunk
      for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
        onFrame(held.slice(0, end))
        held = held.slice(end + 2)
      }
    })
    .on("error", (cause: unknown) => awaited?.reject(cause))
  await ready
  return {
    turn: async (message) => {
      const thread = text(
        await http.post("/v1/threads", { agentId, message: { content: content(message) } }),
        "thread",
        "id"
      )
      await new Promise<void>((resolve, reject) => {
        awaited = { thread, resolve, reject }
        settle()
      })
    },
    close: async () => {
      response.body.on("error", () => {}).destroy()
      await Promise.all([http.close(), listener.close()])
    }
  }
}
