/** One connection: what is known of its secret, another secret in its place, and its configuration. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { components } from "../../../src/client/types.ts"
import { Act } from "../parts/Act.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Gated } from "../parts/Gated.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { kinds, secretOf } from "./secret.ts"
import { SecretBox } from "./SecretBox.tsx"
import { ifMatch, patching, taggedOf } from "./tagged.ts"

type Connection = components["schemas"]["Connection"]

const route = getRouteApi("/connections/$connectionId")
const fields = ["name", "provider", "baseUrl", "allowedHosts", "header"]

interface Place {
  readonly connection: Connection
  readonly etag: string | undefined
  readonly path: string
  readonly again: () => Promise<unknown>
}

const Replace = ({ again, connection: { kind }, etag, path }: Place) => {
  const { troupe } = useSession()
  const [secret, setSecret] = useState("")
  const replace = useMutation({
    mutationFn: () => troupe.send("PATCH", path, { body: { secret: secretOf(kind, secret) }, ...ifMatch(etag) }),
    onSuccess: () => setSecret(""),
    onSettled: again
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        replace.mutate()
      }}
    >
      <SecretBox label={`Another ${kinds[kind]}`} value={secret} onTyped={setSecret} />
      <div className="buttons">
        <Gated scope="admin" type="submit" disabled={secret === "" || replace.isPending}>
          Replace the secret
        </Gated>
        {replace.isSuccess ? <span role="status">Replaced.</span> : null}
      </div>
      {replace.error === null ? null : <Failure failure={replace.error} />}
    </form>
  )
}

const makerOf = ({ createdBy: { id, identity, type } }: Place["connection"]) => `${type} ${visibleLine(identity ?? id)}`

const Known = ({ connection }: Pick<Place, "connection">) => (
  <Fields
    of={{
      Id: <code>{connection.id}</code>,
      Kind: kinds[connection.kind],
      "Secret ends with": connection.last4 === undefined ? undefined : <code>{visibleLine(connection.last4)}</code>,
      "Made by": makerOf(connection),
      Made: <Time at={connection.createdAt} />,
      Changed: <Time at={connection.updatedAt} />,
      Used: connection.lastUsedAt === undefined ? "never" : <Time at={connection.lastUsedAt} />
    }}
  />
)

export const ConnectionPage = () => {
  const { connectionId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `/v1/connections/${encodeURIComponent(connectionId)}`
  const found = useQuery({
    queryKey: ["connections", "one", connectionId],
    queryFn: ({ signal }) =>
      taggedOf(troupe.api.GET("/v1/connections/{connectionId}", { params: { path: { connectionId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Connection" failure={found.error} retry={found.refetch} />
  const {
    body: { connection },
    etag
  } = found.data
  const before = only(connection, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["connections"] })
  return (
    <Page title={connection.name} path={path}>
      <Known connection={connection} />
      <h2>Secret</h2>
      <Replace again={again} connection={connection} etag={etag} path={path} />
      <h2>Configuration</h2>
      <YamlEditor
        label="Connection, as YAML"
        saveLabel="Save"
        scope="admin"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again })}
      />
      <Act
        label="Delete"
        sure="Delete it for good"
        scope="admin"
        act={() => troupe.send("DELETE", path)}
        onDone={() => {
          void queries.invalidateQueries({ queryKey: ["connections", "pages"] })
          return navigate({ to: "/connections" })
        }}
      />
    </Page>
  )
}
