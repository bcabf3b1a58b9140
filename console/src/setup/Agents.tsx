/** The workspace's agents. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { ArchivedToo } from "../parts/ArchivedToo.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"

const path = "/v1/agents"

export const Agents = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [includeArchived, setArchived] = useState(false)
  const create = async (body: unknown) => {
    const answer = await troupe.send("POST", path, { body })
    void queries.invalidateQueries({ queryKey: ["agents"] })
    return answer
  }
  return (
    <Page title="Agents" path={path}>
      <ArchivedToo value={includeArchived} onChosen={setArchived} />
      <Listing
        label="Agents"
        empty="There is no agent yet."
        queryKey={["agents", includeArchived]}
        ask={async (query, signal) => {
          const { agents, nextCursor } = await answerOf(
            troupe.api.GET("/v1/agents", {
              params: { query: { ...query, includeArchived: includeArchived ? "true" : "false" } },
              signal
            })
          )
          return { rows: agents, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/agents/$agentId" params={{ agentId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          {
            name: "Profile",
            cell: ({ profileId, profileVersion }) => (
              <Link to="/profiles/$profileId" params={{ profileId }}>
                {profileVersion === undefined ? "latest" : `version ${profileVersion}`}
              </Link>
            )
          },
          { name: "Identity", cell: ({ identity }) => visibleLine(identity ?? "") },
          { name: "Budget", cell: ({ budget }) => (budget === undefined ? "" : `$${budget.limit} (${budget.window})`) },
          { name: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          { name: "State", cell: ({ archivedAt }) => (archivedAt === undefined ? "active" : "archived") }
        ]}
      />
      <Fold label="New agent">
        <YamlEditor
          isNew
          label="Agent, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ name: "", profileId: "prof_…" }}
          save={create}
        />
      </Fold>
    </Page>
  )
}
