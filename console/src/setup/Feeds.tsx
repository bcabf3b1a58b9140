/** The workspace's feeds. */
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

const path = "/v1/feeds"

export const Feeds = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [includeArchived, setArchived] = useState(false)
  return (
    <Page title="Feeds" path={path}>
      <ArchivedToo value={includeArchived} onChosen={setArchived} />
      <Listing
        label="Feeds"
        empty="There is no feed yet."
        queryKey={["feeds", includeArchived]}
        ask={async (query, signal) => {
          const { feeds, nextCursor } = await answerOf(
            troupe.api.GET("/v1/feeds", {
              params: { query: { ...query, includeArchived: includeArchived ? "true" : "false" } },
              signal
            })
          )
          return { rows: feeds, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/feeds/$feedId" params={{ feedId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Description", cell: ({ description }) => visibleLine(description ?? "") },
          { name: "Tags", cell: ({ tags }) => visibleLine(tags.join(", ")) },
          { name: "Messages", cell: ({ firstSeq, lastSeq }) => `#${firstSeq} to #${lastSeq}` },
          { name: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
          { name: "State", cell: ({ archivedAt }) => (archivedAt === undefined ? "active" : "archived") }
        ]}
      />
      <Fold label="New feed">
        <YamlEditor
          isNew
          label="Feed, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ name: "", description: "" }}
          save={async (body) => {
            const answer = await troupe.send("POST", path, { body })
            void queries.invalidateQueries({ queryKey: ["feeds"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
