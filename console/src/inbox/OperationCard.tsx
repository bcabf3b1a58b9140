/** A request that waits for approval: who asked for what, as it was sent. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Json } from "../parts/Json.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { Decision, type Verdict } from "./Decision.tsx"
import type { Operation } from "./items.ts"

export const OperationCard = ({
  isChosen,
  operation
}: {
  readonly isChosen: boolean
  readonly operation: Operation
}) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const decide = useMutation({
    mutationFn: ({ decision, reason }: Verdict) => {
      const params = { path: { operationId: operation.id } }
      const body = reason === undefined ? {} : { reason }
      return answerOf(
        decision === "allow"
          ? troupe.api.POST("/v1/operations/{operationId}/approve", { params, body })
          : troupe.api.POST("/v1/operations/{operationId}/deny", { params, body })
      )
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] })
  })
  const by = operation.requestedBy
  return (
    <article className={isChosen ? "card chosen" : "card"} aria-label={operation.action}>
      <header>
        <h2>{operation.action}</h2>
        <p className="quiet">
          {by === undefined ? "" : `asked by ${by.type} ${visibleLine(by.identity ?? by.id)} `}
          <Time at={operation.createdAt} /> · expires <Time at={operation.expiresAt} /> ·{" "}
          <Copy label="copy as curl" text={() => curlOf("POST", `/v1/operations/${operation.id}/approve`, {})} />
        </p>
      </header>
      {operation.request === undefined ? null : <Json label="Request" value={operation.request} />}
      <Decision
        of={operation.id}
        allowLabel="Approve"
        isBusy={decide.isPending || decide.isSuccess}
        failure={decide.error}
        scopes={false}
        onDecide={decide.mutate}
      />
    </article>
  )
}
