/** One toolset: how its server does, what tools it offers, and its configuration. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Json } from "../parts/Json.tsx"
import { Listing } from "../parts/Listing.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only, written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/toolsets/$toolsetId")
const fields = [
  "namespace",
  "description",
  "url",
  "transport",
  "connectionId",
  "trusted",
  "lease",
  "timeoutMs",
  "toolTimeouts",
  "include",
  "exclude",
  "exposure",
  "tools"
]

const Tools = ({ toolsetId }: { readonly toolsetId: string }) => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["toolsets", "tools", toolsetId],
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/toolsets/{toolsetId}/tools", { params: { path: { toolsetId } }, signal }))
  })
  if (found.error !== null) return <Failure failure={found.error} retry={() => void found.refetch()} />
  if (found.data === undefined) return <p className="quiet">Looking…</p>
  if (found.data.tools.length === 0) return <p className="quiet">It offers no tool.</p>
  return (
    <ul className="cards">
      {found.data.tools.map(({ annotations, description, inputSchema, name, outputSchema, timeoutMs }) => (
        <li key={name}>
          <details className="card">
            <summary>
              <code>{visibleLine(name)}</code>{" "}
              <span className="quiet">
                {annotations?.readOnlyHint === true ? "read-only · " : ""}
                {annotations?.destructiveHint === true ? "destructive · " : ""}
                {visibleLine(description ?? "")}
              </span>
            </summary>
            {description === undefined ? null : <p className="words">{visible(description)}</p>}
            <p className="quiet">A call may take {timeoutMs.toLocaleString("en")} ms.</p>
            <Json label={`Input of ${visibleLine(name)}`} value={written(inputSchema)} />
            {outputSchema === undefined ? null : (
              <Json label={`Output of ${visibleLine(name)}`} value={written(outputSchema)} />
            )}
          </details>
        </li>
      ))}
    </ul>
  )
}

/** What this workspace's own programs have to execute; people may answer in the thread. */
const Owed = ({ toolsetId }: { readonly toolsetId: string }) => {
  const { troupe } = useSession()
  return (
    <Listing
      label="Calls that wait for a result"
      empty="No call waits for a result."
      queryKey={["toolCalls", toolsetId]}
      ask={async (query, signal) => {
        const { calls, nextCursor } = await answerOf(
          troupe.api.GET("/v1/tools/calls", { params: { query: { ...query, toolsetId } }, signal })
        )
        return { rows: calls, nextCursor }
      }}
      keyOf={({ toolCallId }) => toolCallId}
      columns={[
        { name: "Tool", cell: ({ toolName }) => <code>{visibleLine(toolName)}</code> },
        {
          name: "Thread",
          cell: ({ threadId }) => (
            <Link to="/threads/$threadId" params={{ threadId }}>
              {threadId}
            </Link>
          )
        },
        { name: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
        { name: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} /> }
      ]}
    />
  )
}

export const ToolsetPage = () => {
  const { toolsetId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `/v1/toolsets/${encodeURIComponent(toolsetId)}`
  const found = useQuery({
    queryKey: ["toolsets", "one", toolsetId],
    queryFn: ({ signal }) =>
      taggedOf(troupe.api.GET("/v1/toolsets/{toolsetId}", { params: { path: { toolsetId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Toolset" failure={found.error} retry={found.refetch} />
  const {
    body: { toolset },
    etag
  } = found.data
  const before = only(toolset, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["toolsets"] })
  return (
    <Page title={toolset.namespace} path={path}>
      {toolset.description === undefined ? null : <p className="words">{visible(toolset.description)}</p>}
      <Fields
        of={{
          Id: <code>{toolset.id}</code>,
          Kind: toolset.kind,
          Status: toolset.status,
          Reason: visible(toolset.statusReason ?? ""),
          Server: visibleLine(toolset.url ?? ""),
          Connection: toolset.connectionId,
          Tools: toolset.toolCount,
          Catalogue: `version ${toolset.catalogVersion}`,
          Asked: toolset.lastCheckedAt === undefined ? undefined : <Time at={toolset.lastCheckedAt} />,
          Changed: <Time at={toolset.updatedAt} />
        }}
      />
      <Act
        label="Ask its server again"
        scope="write"
        act={() => troupe.send("POST", `${path}/refresh`)}
        onDone={again}
      />
      <h2>Tools</h2>
      <Tools toolsetId={toolsetId} />
      {toolset.kind === "client" ? (
        <>
          <h2>Calls</h2>
          <Owed toolsetId={toolsetId} />
        </>
      ) : null}
      <h2>Configuration</h2>
      <YamlEditor
        label="Toolset, as YAML"
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
          void queries.invalidateQueries({ queryKey: ["toolsets", "pages"] })
          return navigate({ to: "/toolsets" })
        }}
      />
    </Page>
  )
}
