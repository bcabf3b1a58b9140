/** The whole log as a file: a line for the thread, then one for each event. */
import { useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { failureText } from "../parts/Failure.tsx"
import { useSession } from "../session/Session.tsx"

export const Download = ({
  lastSeq,
  thread,
  threadId
}: {
  readonly threadId: string
  readonly thread: components["schemas"]["Thread"]
  readonly lastSeq: number
}) => {
  const { troupe } = useSession()
  const [state, setState] = useState<string>()
  const save = async () => {
    const lines = [JSON.stringify({ type: "troupe.thread", version: 1, exportedAt: new Date().toISOString(), thread })]
    for (let seen = 0; seen < lastSeq; ) {
      setState(`${Math.floor((100 * seen) / lastSeq)} %`)
      const { events } = await answerOf(
        troupe.api.GET("/v1/threads/{threadId}/events", {
          params: { path: { threadId }, query: { afterSeq: seen, limit: 200 } }
        })
      )
      if (events.length === 0) break
      for (const event of events) lines.push(JSON.stringify({ type: "event", event }))
      seen = events.at(-1)?.seq ?? lastSeq
    }
    const url = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" }))
    const link = document.createElement("a")
    link.href = url
    link.download = `${threadId}.troupe.jsonl`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button
      type="button"
      disabled={state?.endsWith("%") === true}
      onClick={() =>
        void save().then(
          () => setState(undefined),
          (failure: unknown) => setState(failureText(failure))
        )
      }
    >
      {state ?? "Download"}
    </button>
  )
}
