/** The thread's turns, newest first: how each ended, what it did and what it cost. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useCallback } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { useLooking } from "../live/looking.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const number = (count: number) => count.toLocaleString("en")
const seconds = (from: string, to: string) => `${((Date.parse(to) - Date.parse(from)) / 1_000).toFixed(1)} s`

const restMs = 1_000

/** `lastSeq`: of the log, so that what is new is asked for. */
export const Turns = ({ lastSeq, threadId }: { readonly threadId: string; readonly lastSeq: number }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const look = useCallback(
    () => queries.invalidateQueries({ queryKey: ["turns", threadId] }, { cancelRefetch: false }),
    [queries, threadId]
  )
  useLooking(lastSeq, look, restMs)
  return (
    <section className="scroller" aria-label="Turns">
      <p className="filters">
        <Copy label="copy as curl" text={() => curlOf("GET", `/v1/threads/${threadId}/turns`)} />
      </p>
      <Listing
        label="Turns"
        empty="It has had no turn yet."
        queryKey={["turns", threadId]}
        ask={async (query, signal) => {
          const { nextCursor, turns } = await answerOf(
            troupe.api.GET("/v1/threads/{threadId}/turns", { params: { path: { threadId }, query }, signal })
          )
          return { rows: turns, nextCursor }
        }}
        keyOf={({ turnId }) => turnId}
        columns={[
          {
            name: "Began",
            cell: ({ firstSeq, startedAt }) => (
              <Link to="/threads/$threadId" params={{ threadId }} search={{ view: "events", seq: firstSeq }}>
                <Time at={startedAt} />
              </Link>
            )
          },
          { name: "By", cell: ({ principal }) => visibleLine(principal.identity ?? principal.id) },
          { name: "Mode", cell: ({ submitMode }) => submitMode },
          {
            name: "Ended",
            cell: ({ failureCode, outcome }) =>
              `${outcome ?? "goes on"}${failureCode === undefined ? "" : `: ${failureCode}`}`
          },
          {
            name: "Took",
            cell: ({ endedAt, startedAt }) => (endedAt === undefined ? "" : seconds(startedAt, endedAt))
          },
          { name: "Responses", cell: ({ responses }) => number(responses) },
          { name: "Calls", cell: ({ toolCalls }) => number(toolCalls) },
          { name: "Waits", cell: ({ waits }) => number(waits) },
          { name: "Tokens", cell: ({ usage }) => number(usage.totalTokens) },
          {
            name: "Cost",
            cell: ({ usage }) => (usage.estimatedCost === undefined ? "" : `$${usage.estimatedCost.toFixed(4)}`)
          }
        ]}
      />
    </section>
  )
}
