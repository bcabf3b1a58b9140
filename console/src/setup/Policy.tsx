/** The approval policy: which requests wait for somebody's word. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Fields } from "../parts/Fields.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { ifMatch, taggedOf } from "./tagged.ts"

const path = "/v1/approval-policy"

export const Policy = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const found = useQuery({
    queryKey: ["policy"],
    queryFn: ({ signal }) => taggedOf(troupe.api.GET("/v1/approval-policy", { signal }))
  })
  if (found.data === undefined) return <NotYet title="Approval policy" failure={found.error} retry={found.refetch} />
  const {
    body: { policy },
    etag
  } = found.data
  const by = policy.updatedBy
  return (
    <Page title="Approval policy" path={path}>
      <p>
        The first rule that fits a request decides whether it waits for approval. Where none fits, what agents ask for
        with a lease waits if it changes something, and all else runs.
      </p>
      <Fields
        of={{
          Rules: policy.rules.length,
          Changed: policy.updatedAt === undefined ? "never" : <Time at={policy.updatedAt} />,
          By: by === undefined ? undefined : `${by.type} ${visibleLine(by.identity ?? by.id)}`
        }}
      />
      <YamlEditor
        label="Policy, as YAML"
        saveLabel="Save"
        scope="admin"
        value={only(policy, ["rules"])}
        etag={etag}
        save={async (body, { etag: version }) => {
          try {
            return await troupe.send("PUT", path, { body, ...ifMatch(version) })
          } finally {
            await queries.invalidateQueries({ queryKey: ["policy"] })
          }
        }}
      />
    </Page>
  )
}
