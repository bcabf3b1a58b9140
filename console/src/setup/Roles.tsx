/** The roles of the workspace, and what they say of a call. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"
import { Explain } from "./Explain.tsx"

const path = "/v1/roles"

export const Roles = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <Page title="Roles" path={path}>
      <Listing
        label="Roles"
        empty="There is no role."
        queryKey={["roles"]}
        ask={async (query, signal) => {
          const { nextCursor, roles } = await answerOf(troupe.api.GET("/v1/roles", { params: { query }, signal }))
          return { rows: roles, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/roles/$roleId" params={{ roleId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Id", cell: ({ id }) => <code>{id}</code> },
          { name: "Allows", cell: ({ allow }) => allow.length },
          { name: "Denies", cell: ({ deny }) => deny.length },
          { name: "Changed", cell: ({ builtIn, updatedAt }) => (builtIn ? "built in" : <Time at={updatedAt} />) }
        ]}
      />
      <h2>Explain a decision</h2>
      <Explain />
      <Fold label="New role">
        <YamlEditor
          isNew
          label="Role, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ name: "", allow: [{ tools: "thread.*" }], deny: [] }}
          save={async (body) => {
            const answer = await troupe.send("POST", path, { body })
            void queries.invalidateQueries({ queryKey: ["roles"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
