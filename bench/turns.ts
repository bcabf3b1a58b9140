/** Single turns, one after the other. */
import { at, connect, events, pause, text } from "./adapters/Adapter.ts"
import type { System } from "./systems.ts"

export type Http = ReturnType<typeof connect>

export const message = {
  content: [{ type: "text", text: "Summarise the latest deployment and tell me whether it is safe to continue." }]
}

/** Submits one message and polls for the end of its turn, from that seq on; the new last seq. */
export const turn = async (http: Http, thread: string, after: number) => {
  await http.post(`/v1/threads/${thread}/messages`, message)
  for (;;) {
    for (const event of events(await http.get(`/v1/threads/${thread}/events?afterSeq=${after}`))) {
      after = Math.max(after, Number(at(event, "seq")))
      if (at(event, "type") === "turn_completed") return after
      if (at(event, "type") === "turn_failed") throw new Error(JSON.stringify(event))
    }
    await pause(1)
  }
}

/** A thread after its first turn. */
export const create = async (system: System) => {
  const http = connect(system.target)
  const id = text(await http.post("/v1/threads", { agentId: system.target.agents[0] }), "thread", "id")
  await turn(http, id, 0)
  await http.close()
  return id
}

/** Makes threads with a message each, by 32 clients at once; when each was answered, by the monotonic clock. */
export const makeThreads = async (system: System, threads: number, said: object = message) => {
  const clients = Array.from({ length: 32 }, () => connect(system.target))
  const start = performance.now()
  let left = threads
  const made: Array<number> = []
  await Promise.all(
    clients.map(async (http) => {
      while (left-- > 0) {
        await http.post("/v1/threads", { agentId: system.target.agents[0], message: said })
        made.push(performance.now())
      }
    })
  )
  const tookMs = performance.now() - start
  await Promise.all(clients.map((http) => http.close()))
  return { made, tookMs }
}

export const lastSeq = async (http: Http, thread: string) =>
  Number(at(await http.get(`/v1/threads/${thread}`), "lastSeq"))
