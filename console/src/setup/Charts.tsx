/** The state charts that actors run by: their states, and what leads from one to another. */
import { useQuery } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import { NotYet, Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { useSession } from "../session/Session.tsx"

const titles: Readonly<Record<string, string>> = {
  thread: "Threads",
  call: "Calls of tools",
  hooks: "Chains of hooks",
  identity: "Identities",
  schedule: "Schedules",
  subscription: "Subscriptions"
}
const name = (text: string | undefined) => (text === undefined || text === "" ? "" : <code>{text}</code>)

export const Charts = () => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["charts"],
    queryFn: ({ signal }) => answerOf(troupe.api.GET("/v1/charts", { signal }))
  })
  if (found.data === undefined) return <NotYet title="Charts" failure={found.error} retry={found.refetch} />
  return (
    <Page title="Charts" path="/v1/charts">
      <p className="quiet">Made from the machines that run on the node that has answered.</p>
      {found.data.charts.map(({ initial, kind, states, transitions, version }) => (
        <section key={kind} aria-label={titles[kind] ?? kind}>
          <h2>{titles[kind] ?? kind}</h2>
          <p className="quiet">
            Begins in <code>{initial}</code>. Version <code>{version}</code>.
          </p>
          <Table
            label={`States: ${titles[kind] ?? kind}`}
            rows={states}
            keyOf={({ id }) => id}
            columns={[
              { name: "State", cell: ({ id }) => name(id) },
              { name: "What it is", cell: ({ description }) => description }
            ]}
          />
          <Table
            label={`Transitions: ${titles[kind] ?? kind}`}
            rows={transitions}
            keyOf={({ id }) => id}
            columns={[
              { name: "In", cell: ({ source }) => (source === "" ? "any state" : name(source)) },
              { name: "On", cell: ({ event }) => (event === undefined ? "at once" : name(event)) },
              { name: "If", cell: ({ guard }) => name(guard) },
              { name: "To", cell: ({ target }) => name(target) },
              { name: "What happens", cell: ({ description }) => description }
            ]}
          />
        </section>
      ))}
    </Page>
  )
}
