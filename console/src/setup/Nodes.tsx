/** The nodes of the installation. What they say of themselves is asked for again and again. */
import { useQuery } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import { Page, NotYet } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { duration } from "../parts/duration.ts"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const everyMs = 5_000

export const Nodes = () => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["nodes"],
    refetchInterval: everyMs,
    queryFn: ({ signal }) => answerOf(troupe.api.GET("/v1/nodes", { signal }))
  })
  if (found.data === undefined) return <NotYet title="Nodes" failure={found.error} retry={found.refetch} />
  return (
    <Page title="Nodes" path="/v1/nodes">
      <Table
        label="Nodes"
        rows={found.data.nodes}
        keyOf={({ incarnation }) => incarnation}
        columns={[
          { name: "Name", cell: ({ name }) => visibleLine(name) },
          { name: "Version", cell: ({ version }) => visibleLine(version) },
          { name: "Since", cell: ({ since }) => <Time at={since} /> },
          { name: "State", cell: ({ draining }) => (draining ? "draining" : "serving") },
          { name: "Actors", cell: ({ actors }) => actors.toLocaleString("en") },
          { name: "Shards", cell: ({ shards }) => shards.toLocaleString("en") },
          { name: "Last beat", cell: ({ leaseAgeMs }) => `${duration(leaseAgeMs)} ago` },
          { name: "Bus", cell: ({ bus }) => bus }
        ]}
      />
    </Page>
  )
}
