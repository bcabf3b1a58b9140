/** What models were used for, by day, agent or model. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { rowsOf } from "../../../src/client/pages.ts"
import { Failure } from "../parts/Failure.tsx"
import { Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const groupings = ["day", "agent", "model"] as const
type Grouping = (typeof groupings)[number]
type Sum = components["schemas"]["UsageSum"]

const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)

const tokensOf = ({ inputTokens, outputTokens }: Sum) => inputTokens + outputTokens
const number = (count: number) => count.toLocaleString("en")

/** A bar per sum, as long as its share of the longest. By cost where any is known, else by tokens. */
const lengthOf = (sums: ReadonlyArray<Sum>) => {
  const isPriced = sums.some(({ estimatedCost = 0 }) => estimatedCost > 0)
  const weigh = (sum: Sum) => (isPriced ? (sum.estimatedCost ?? 0) : tokensOf(sum))
  const most = Math.max(0, ...sums.map(weigh))
  return (sum: Sum) => (most === 0 ? 0 : (100 * weigh(sum)) / most)
}

export const Usage = () => {
  const { troupe } = useSession()
  const ids = { by: useId(), from: useId(), to: useId() }
  const [groupBy, setGroupBy] = useState<Grouping>("day")
  const [from, setFrom] = useState(() => daysAgo(29))
  const [to, setTo] = useState(() => daysAgo(0))
  const filter = { groupBy, ...(from === "" ? {} : { from }), ...(to === "" ? {} : { to }) }
  const found = useQuery({
    queryKey: ["usage", filter],
    queryFn: ({ signal }) =>
      Array.fromAsync(
        rowsOf(
          (cursor) =>
            answerOf(
              troupe.api.GET("/v1/usage", {
                params: { query: { ...filter, limit: 200, ...(cursor === undefined ? {} : { cursor }) } },
                signal
              })
            ),
          ({ usage }) => usage
        )
      )
  })
  const names = useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => answerOf(troupe.api.GET("/v1/agents", { params: { query: { limit: 200 } }, signal }))
  })
  const agentNames = new Map(names.data?.agents.map(({ id, name }) => [id, name]))
  const sums = found.data ?? []
  const length = lengthOf(sums)
  return (
    <Page title="Usage" path={`/v1/usage?${new URLSearchParams(filter)}`}>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor={ids.by}>By</label>
        <select
          id={ids.by}
          value={groupBy}
          onChange={(event) => setGroupBy(groupings.find((each) => each === event.target.value) ?? "day")}
        >
          {groupings.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <label htmlFor={ids.from}>From</label>
        <input id={ids.from} type="date" value={from} max={to} onChange={(event) => setFrom(event.target.value)} />
        <label htmlFor={ids.to}>to</label>
        <input id={ids.to} type="date" value={to} min={from} onChange={(event) => setTo(event.target.value)} />
      </form>
      {found.error === null ? null : <Failure failure={found.error} retry={() => void found.refetch()} />}
      {found.isPending ? <p className="quiet">Looking…</p> : null}
      {found.isSuccess && sums.length === 0 ? <p className="quiet">No model was used on these days.</p> : null}
      {sums.length === 0 ? null : (
        <Table
          label="Usage"
          rows={sums}
          keyOf={({ agentId, day, model }) => `${day ?? ""} ${agentId ?? ""} ${model ?? ""}`}
          columns={[
            {
              name: groupBy,
              cell: ({ agentId, day, model }) =>
                agentId === undefined ? (
                  (day ?? visibleLine(model ?? ""))
                ) : (
                  <Link to="/agents/$agentId" params={{ agentId }}>
                    {visibleLine(agentNames.get(agentId) ?? agentId)}
                  </Link>
                )
            },
            { name: "Calls", cell: ({ calls }) => number(calls) },
            { name: "Input tokens", cell: ({ inputTokens }) => number(inputTokens) },
            { name: "Output tokens", cell: ({ outputTokens }) => number(outputTokens) },
            { name: "From cache", cell: ({ cacheReadTokens }) => number(cacheReadTokens) },
            {
              name: "Cost",
              cell: ({ estimatedCost }) => (estimatedCost === undefined ? "" : `$${estimatedCost.toFixed(4)}`)
            },
            {
              name: "Share",
              cell: (sum) => <span className="bar" aria-hidden="true" style={{ width: `${length(sum)}%` }} />
            }
          ]}
        />
      )}
    </Page>
  )
}
