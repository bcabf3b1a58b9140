/** One request that waited for approval. */
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Fields } from "../parts/Fields.tsx"
import { Json } from "../parts/Json.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const route = getRouteApi("/operations/$operationId")

export const OperationPage = () => {
  const { operationId } = route.useParams()
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["operations", "one", operationId],
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/operations/{operationId}", { params: { path: { operationId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Operation" failure={found.error} retry={found.refetch} />
  const { action, createdAt, expiresAt, id, request, requestedBy, resolvedAt, resolvedBy, result, state } =
    found.data.operation
  const nameOf = (by: typeof requestedBy) => (by === undefined ? "" : `${by.type} ${visibleLine(by.identity ?? by.id)}`)
  return (
    <Page title={action} path={`/v1/operations/${encodeURIComponent(operationId)}`}>
      <Fields
        of={{
          Id: <code>{id}</code>,
          State: state,
          "Asked by": nameOf(requestedBy),
          Asked: <Time at={createdAt} />,
          Expires: state === "pending" ? <Time at={expiresAt} /> : undefined,
          Decided: resolvedAt === undefined ? undefined : <Time at={resolvedAt} />,
          "Decided by": nameOf(resolvedBy)
        }}
      />
      {state === "pending" ? (
        <p className="quiet">
          It is decided in the <Link to="/">inbox</Link>.
        </p>
      ) : null}
      {request === undefined ? null : <Json label="Request" value={request} />}
      {result === undefined ? null : <Json label={`Result (${result.status})`} value={result.body} />}
    </Page>
  )
}
