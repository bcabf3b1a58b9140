/** The workspace's profiles. */
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

const path = "/v1/profiles"

export const Profiles = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [includeArchived, setArchived] = useState(false)
  return (
    <Page title="Profiles" path={path}>
      <ArchivedToo value={includeArchived} onChosen={setArchived} />
      <Listing
        label="Profiles"
        empty="There is no profile yet."
        queryKey={["profiles", includeArchived]}
        ask={async (query, signal) => {
          const { nextCursor, profiles } = await answerOf(
            troupe.api.GET("/v1/profiles", {
              params: { query: { ...query, includeArchived: includeArchived ? "true" : "false" } },
              signal
            })
          )
          return { rows: profiles, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/profiles/$profileId" params={{ profileId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Version", cell: ({ version }) => version },
          { name: "Models", cell: ({ models }) => visibleLine(models.join(", ")) },
          { name: "Hooks", cell: ({ hooks }) => hooks.length },
          { name: "Roles", cell: ({ roleIds }) => roleIds.length },
          { name: "Toolsets", cell: ({ toolsetIds }) => toolsetIds.length },
          { name: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          { name: "State", cell: ({ archivedAt }) => (archivedAt === undefined ? "active" : "archived") }
        ]}
      />
      <Fold label="New profile">
        <YamlEditor
          isNew
          label="Profile, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ name: "", models: ["provider/model"], systemPrompt: "" }}
          save={async (body) => {
            const answer = await troupe.send("POST", path, { body })
            void queries.invalidateQueries({ queryKey: ["profiles"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
