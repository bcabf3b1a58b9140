/** One role, to read and to change. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { Act } from "../parts/Act.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Json } from "../parts/Json.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visible } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only, written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/roles/$roleId")
const fields = ["name", "description", "allow", "deny"]

export const RolePage = () => {
  const { roleId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `/v1/roles/${encodeURIComponent(roleId)}`
  const found = useQuery({
    queryKey: ["roles", "one", roleId],
    queryFn: ({ signal }) => taggedOf(troupe.api.GET("/v1/roles/{roleId}", { params: { path: { roleId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Role" failure={found.error} retry={found.refetch} />
  const {
    body: { role },
    etag
  } = found.data
  const before = only(role, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["roles"] })
  return (
    <Page title={role.name} path={path}>
      {role.description === undefined ? null : <p className="words">{visible(role.description)}</p>}
      <Fields of={{ Id: <code>{role.id}</code>, Changed: role.builtIn ? "built in" : <Time at={role.updatedAt} /> }} />
      {role.builtIn ? (
        <Json label="Role" value={written(before)} />
      ) : (
        <>
          <YamlEditor
            label="Role, as YAML"
            saveLabel="Save"
            scope="write"
            value={before}
            etag={etag}
            save={patching(troupe, { path, again })}
          />
          <Act
            label="Delete"
            sure="Delete it for good"
            scope="write"
            act={() => troupe.send("DELETE", path)}
            onDone={() => {
              void queries.invalidateQueries({ queryKey: ["roles", "pages"] })
              return navigate({ to: "/roles" })
            }}
          />
        </>
      )}
    </Page>
  )
}
