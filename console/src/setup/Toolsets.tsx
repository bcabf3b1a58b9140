/** Toolsets: where the tools of agents come from, and whether their servers answer. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"

const path = "/v1/toolsets"

export const Toolsets = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <Page title="Toolsets" path={path}>
      <Listing
        label="Toolsets"
        empty="There is no toolset yet."
        queryKey={["toolsets"]}
        ask={async (query, signal) => {
          const { nextCursor, toolsets } = await answerOf(troupe.api.GET("/v1/toolsets", { params: { query }, signal }))
          return { rows: toolsets, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Namespace",
            cell: ({ id, namespace }) => (
              <Link to="/toolsets/$toolsetId" params={{ toolsetId: id }}>
                {visibleLine(namespace)}
              </Link>
            )
          },
          { name: "Kind", cell: ({ kind }) => kind },
          { name: "Status", cell: ({ status }) => status },
          { name: "Tools", cell: ({ toolCount }) => toolCount },
          { name: "Server", cell: ({ url }) => visibleLine(url ?? "") },
          {
            name: "Asked",
            cell: ({ lastCheckedAt }) => (lastCheckedAt === undefined ? "" : <Time at={lastCheckedAt} />)
          }
        ]}
      />
      <Fold label="New toolset">
        <YamlEditor
          isNew
          label="Toolset, as YAML"
          saveLabel="Register"
          done="Registered."
          scope="write"
          value={{ kind: "mcp", namespace: "", url: "https://" }}
          save={async (body) => {
            const answer = await troupe.send("POST", path, { body })
            void queries.invalidateQueries({ queryKey: ["toolsets"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
