/** The yardstick, polled every 2 ms as in the run that the project's figures come from. */
import { randomUUID } from "node:crypto"
import { type Adapter, at, connect, events, pause, pollMs } from "./Adapter.ts"

export const yardstick: Adapter = async (target) => {
  const http = connect(target)
  return {
    turn: async (text) => {
      const thread = `/v1/threads/${randomUUID()}`
      await http.post(`${thread}/messages`, { message_id: randomUUID(), content: [{ type: "text", text }] })
      for (let after = 0; ; ) {
        for (const event of events(await http.get(`${thread}/events?after=${after}`))) {
          after = Math.max(after, Number(at(event, "seq")))
          if (at(event, "type") === "turn_completed") return
        }
        await pause(pollMs)
      }
    },
    close: http.close
  }
}
