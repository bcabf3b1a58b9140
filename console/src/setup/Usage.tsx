/** What models were used for, by day, agent or model, and of one agent against its budget. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect, useId, useState } from "react"
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { AgentChoice } from "../parts/AgentChoice.tsx"
import { type Agents, useAgents } from "../parts/agents.ts"
import { Failure } from "../parts/Failure.tsx"
import { Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const groupings = ["day", "agent", "model"] as const
type Grouping = (typeof groupings)[number]
type Sum = components["schemas"]["UsageSum"]
type Budget = components["schemas"]["BudgetUse"]

interface Choice {
  readonly groupBy: Grouping
  readonly from: string
  readonly to: string
  readonly agentId: string
}

const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)

const tokensOf = ({ inputTokens, outputTokens }: Sum) => inputTokens + outputTokens
const number = (count: number) => count.toLocaleString("en")
const dollars = (amount: number) => `$${amount.toFixed(4)}`

/** A bar per sum, as long as its share of the longest. By cost where any is known, else by tokens. */
const lengthOf = (sums: ReadonlyArray<Sum>) => {
  const isPriced = sums.some(({ estimatedCost = 0 }) => estimatedCost > 0)
  const weigh = (sum: Sum) => (isPriced ? (sum.estimatedCost ?? 0) : tokensOf(sum))
  const most = Math.max(0, ...sums.map(weigh))
  return (sum: Sum) => (most === 0 ? 0 : (100 * weigh(sum)) / most)
}

const Bar = ({ percent }: { readonly percent: number }) => (
  <span className="bar" aria-hidden="true" style={{ width: `${percent}%` }} />
)

const filterOf = ({ agentId, from, groupBy, to }: Choice) => ({
  groupBy,
  ...(from === "" ? {} : { from }),
  ...(to === "" ? {} : { to }),
  ...(agentId === "" ? {} : { agentId })
})

/** All sums, and the agent's budget, which every page has. */
const sumsOf = async (troupe: Troupe, filter: ReturnType<typeof filterOf>, signal: AbortSignal) => {
  const usage: Array<Sum> = []
  let cursor: string | undefined
  let budget: Budget | undefined
  do {
    const page = await answerOf(
      troupe.api.GET("/v1/usage", {
        params: { query: { ...filter, limit: 200, ...(cursor === undefined ? {} : { cursor }) } },
        signal
      })
    )
    usage.push(...page.usage)
    budget = page.budget
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { usage, budget }
}

const Filters = ({
  agents,
  choice: { agentId, from, groupBy, to },
  onChosen
}: {
  readonly agents: Agents
  readonly choice: Choice
  readonly onChosen: (changed: Partial<Choice>) => void
}) => {
  const ids = { by: useId(), from: useId(), to: useId() }
  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={ids.by}>By</label>
      <select
        id={ids.by}
        value={groupBy}
        onChange={(event) => onChosen({ groupBy: groupings.find((each) => each === event.target.value) ?? "day" })}
      >
        {groupings.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <label htmlFor={ids.from}>From</label>
      <input
        id={ids.from}
        type="date"
        value={from}
        max={to}
        onChange={(event) => onChosen({ from: event.target.value })}
      />
      <label htmlFor={ids.to}>to</label>
      <input id={ids.to} type="date" value={to} min={from} onChange={(event) => onChosen({ to: event.target.value })} />
      <AgentChoice all="all" of={agents} value={agentId} onChosen={(chosen) => onChosen({ agentId: chosen })} />
    </form>
  )
}

const windows = { "24h": "of the last 24 hours", "7d": "of the last 7 days", total: "of all time" } as const

const Against = ({ budget: { limit, reserved, spent, window } }: { readonly budget: Budget }) => (
  <section className="card" aria-label="Budget">
    <p>
      {dollars(spent)} of its budget of ${limit} {windows[window]} is spent
      {reserved === 0 ? "" : `, and ${dollars(reserved)} is set aside for calls that run now`}.
    </p>
    <Bar percent={limit === 0 ? 100 : Math.min(100, (100 * (spent + reserved)) / limit)} />
  </section>
)

const Sums = ({
  agents,
  groupBy,
  sums
}: {
  readonly agents: Agents
  readonly groupBy: Grouping
  readonly sums: ReadonlyArray<Sum>
}) => {
  const names = new Map(agents.agents.map(({ id, name }) => [id, name]))
  const { hasMore, isAsking, more } = agents
  const isMissing = sums.some(({ agentId }) => agentId !== undefined && !names.has(agentId))
  useEffect(() => {
    if (isMissing && hasMore && !isAsking) more()
  })
  const length = lengthOf(sums)
  return (
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
                {visibleLine(names.get(agentId) ?? agentId)}
              </Link>
            )
        },
        { name: "Calls", cell: ({ calls }) => number(calls) },
        { name: "Input tokens", cell: ({ inputTokens }) => number(inputTokens) },
        { name: "Output tokens", cell: ({ outputTokens }) => number(outputTokens) },
        { name: "From cache", cell: ({ cacheReadTokens }) => number(cacheReadTokens) },
        {
          name: "Cost",
          cell: ({ estimatedCost }) => (estimatedCost === undefined ? "" : dollars(estimatedCost))
        },
        { name: "Share", cell: (sum) => <Bar percent={length(sum)} /> }
      ]}
    />
  )
}

export const Usage = () => {
  const { troupe } = useSession()
  const agents = useAgents({ includeArchived: true })
  const [choice, setChoice] = useState<Choice>(() => ({
    groupBy: "day",
    from: daysAgo(29),
    to: daysAgo(0),
    agentId: ""
  }))
  const filter = filterOf(choice)
  const found = useQuery({
    queryKey: ["usage", filter],
    queryFn: ({ signal }) => sumsOf(troupe, filter, signal)
  })
  const { budget, usage = [] } = found.data ?? {}
  return (
    <Page title="Usage" path={`/v1/usage?${new URLSearchParams(filter)}`}>
      <Filters agents={agents} choice={choice} onChosen={(changed) => setChoice({ ...choice, ...changed })} />
      {agents.error === null ? null : <Failure failure={agents.error} retry={agents.retry} />}
      {found.error === null ? null : <Failure failure={found.error} retry={() => void found.refetch()} />}
      {found.isPending ? <p className="quiet">Looking…</p> : null}
      {budget === undefined ? null : <Against budget={budget} />}
      {found.isSuccess && usage.length === 0 ? <p className="quiet">No model was used on these days.</p> : null}
      {usage.length === 0 ? null : <Sums agents={agents} groupBy={choice.groupBy} sums={usage} />}
    </Page>
  )
}
