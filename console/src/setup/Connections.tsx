/** Connections: what is known of credentials, and new ones. Their secrets are never shown. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { NewConnection } from "./NewConnection.tsx"

export const Connections = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <Page title="Connections" path="/v1/connections">
      <p className="quiet">
        A secret is encrypted when it comes and never shown: of a long one the last characters are.
      </p>
      <Listing
        label="Connections"
        empty="There is no connection yet."
        queryKey={["connections"]}
        ask={async (query, signal) => {
          const { connections, nextCursor } = await answerOf(
            troupe.api.GET("/v1/connections", { params: { query }, signal })
          )
          return { rows: connections, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/connections/$connectionId" params={{ connectionId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Id", cell: ({ id }) => <code>{id}</code> },
          { name: "Provider", cell: ({ provider }) => visibleLine(provider) },
          { name: "Kind", cell: ({ kind }) => kind },
          { name: "Ends with", cell: ({ last4 }) => (last4 === undefined ? "" : <code>{visibleLine(last4)}</code>) },
          {
            name: "Sent to",
            cell: ({ allowedHosts, baseUrl }) => visibleLine(allowedHosts?.join(", ") ?? baseUrl ?? "")
          },
          {
            name: "Made by",
            cell: ({ createdBy }) => `${createdBy.type} ${visibleLine(createdBy.identity ?? createdBy.id)}`
          },
          { name: "Used", cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : <Time at={lastUsedAt} />) }
        ]}
      />
      <Fold label="New connection">
        <NewConnection onMade={() => void queries.invalidateQueries({ queryKey: ["connections"] })} />
      </Fold>
    </Page>
  )
}
