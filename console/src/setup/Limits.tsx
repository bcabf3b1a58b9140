/** What the workspace may have, and how much of it there is. */
import { useQuery } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import { NotYet, Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { useSession } from "../session/Session.tsx"

const number = (count: number) => count.toLocaleString("en")

export const Limits = () => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["limits"],
    queryFn: ({ signal }) => answerOf(troupe.api.GET("/v1/limits", { signal }))
  })
  if (found.data === undefined) return <NotYet title="Limits" failure={found.error} retry={found.refetch} />
  return (
    <Page title="Limits" path="/v1/limits">
      <p className="quiet">Stored bytes are those of the last 24 hours.</p>
      <Table
        label="Limits"
        rows={found.data.limits}
        keyOf={({ resource }) => resource}
        columns={[
          { name: "What", cell: ({ resource }) => resource.replaceAll("_", " ") },
          { name: "Used", cell: ({ used }) => number(used) },
          { name: "Limit", cell: ({ limit }) => number(limit) },
          {
            name: "Share",
            cell: ({ limit, used }) => (
              <span
                className="bar"
                aria-hidden="true"
                style={{ width: `${limit === 0 ? 0 : Math.min(100, (100 * used) / limit)}%` }}
              />
            )
          }
        ]}
      />
    </Page>
  )
}
