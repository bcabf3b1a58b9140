/** Requests that waited for approval, in every state. Those that wait still are decided in the inbox. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Act } from "../parts/Act.tsx"
import { Json } from "../parts/Json.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

type Operation = components["schemas"]["Operation"]

const states = ["pending", "approved", "completed", "failed", "denied", "expired", "cancelled"] as const

const Decided = ({ of: { resolvedAt, resolvedBy: by } }: { readonly of: Operation }) => (
  <>
    {resolvedAt === undefined ? "" : <Time at={resolvedAt} />}
    {by === undefined ? "" : ` by ${by.type} ${visibleLine(by.identity ?? by.id)}`}
  </>
)

const What = ({ of: { id, request, result } }: { readonly of: Operation }) => (
  <details>
    <summary>request{result === undefined ? "" : ` and result (${result.status})`}</summary>
    <Json label={`Request of ${id}`} value={request} />
    {result === undefined ? null : <Json label={`Result of ${id}`} value={result.body} />}
  </details>
)

export const Operations = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const id = useId()
  const [state, setState] = useState<(typeof states)[number]>()
  const filter = state === undefined ? {} : { state }
  return (
    <Page title="Operations" path={`/v1/operations?${new URLSearchParams(filter)}`}>
      <p className="quiet">
        What waits is decided in the <Link to="/">inbox</Link>.
      </p>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor={id}>State</label>
        <select
          id={id}
          value={state ?? ""}
          onChange={(event) => setState(states.find((each) => each === event.target.value))}
        >
          <option value="">all</option>
          {states.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </form>
      <Listing
        label="Operations"
        empty="There is no such operation."
        queryKey={["operations", filter]}
        ask={async (query, signal) => {
          const { nextCursor, operations } = await answerOf(
            troupe.api.GET("/v1/operations", { params: { query: { ...query, ...filter } }, signal })
          )
          return { rows: operations, nextCursor }
        }}
        keyOf={(operation) => operation.id}
        columns={[
          {
            name: "Action",
            cell: ({ action, id }) => (
              <Link to="/operations/$operationId" params={{ operationId: id }}>
                {action}
              </Link>
            )
          },
          { name: "State", cell: (operation) => operation.state },
          {
            name: "Asked by",
            cell: ({ requestedBy: by }) => (by === undefined ? "" : `${by.type} ${visibleLine(by.identity ?? by.id)}`)
          },
          { name: "Asked", cell: ({ createdAt }) => <Time at={createdAt} /> },
          { name: "Decided", cell: (operation) => <Decided of={operation} /> },
          { name: "What", cell: (operation) => <What of={operation} /> },
          {
            name: "Change",
            cell: ({ id, state }) =>
              state === "pending" ? (
                <Act
                  label="Cancel"
                  sure="Withdraw the request"
                  scope="run"
                  act={() => troupe.send("POST", `/v1/operations/${id}/cancel`)}
                  onDone={() => queries.invalidateQueries({ queryKey: ["operations"] })}
                />
              ) : null
          }
        ]}
      />
    </Page>
  )
}
