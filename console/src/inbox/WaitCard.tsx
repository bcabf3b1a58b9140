/** One wait: what is asked about, exactly, and the ways to answer. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Json } from "../parts/Json.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import type { Asked } from "./asked.ts"
import { Decision } from "./Decision.tsx"
import { EditedInput } from "./EditedInput.tsx"
import { ToolResultForm } from "./ToolResultForm.tsx"
import type { Thread, Wait } from "./useInbox.ts"

type Resolution = components["schemas"]["WaitResolution"]

const points: Readonly<Record<string, string>> = {
  before_turn_start: "before the turn begins",
  before_tool_call: "before the call",
  after_tool_result: "of what the tool returned",
  after_model_response: "of what the model said"
}

const aboutOf = ({ point, toolName, type }: Wait) =>
  type === "client_tool"
    ? `Result of ${toolName ?? "a call"}`
    : `${toolName ?? "A message"}${point === undefined ? "" : `, ${points[point] ?? point}`}`

export const WaitCard = ({
  isChosen,
  onWished,
  thread,
  wait,
  wish
}: Asked & { readonly thread: Thread; readonly wait: Wait }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const threadId = thread.thread.id
  const path = { threadId, waitId: wait.id }
  // What the list leaves out: what a hook asks about.
  const whole = useQuery({
    queryKey: ["wait", wait.id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/threads/{threadId}/waits/{waitId}", { params: { path }, signal }))
  })
  const resolve = useMutation({
    mutationFn: (body: Resolution) =>
      answerOf(troupe.api.POST("/v1/threads/{threadId}/waits/{waitId}/resolve", { params: { path }, body })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] })
  })
  const asked = whole.data?.wait
  const edited = wait.point === undefined || wait.point === "before_tool_call"

  return (
    <article className={isChosen ? "card chosen" : "card"} aria-label={aboutOf(wait)}>
      <header>
        <h2>{aboutOf(wait)}</h2>
        <p className="quiet">
          <Link to="/threads/$threadId" params={{ threadId }}>
            {thread.thread.title === undefined ? threadId : visibleLine(thread.thread.title)}
          </Link>
          {wait.expiresAt === undefined ? null : (
            <>
              {" · expires "}
              <Time at={wait.expiresAt} />
            </>
          )}
          {" · "}
          <Copy
            label="copy as curl"
            text={() =>
              curlOf("POST", `/v1/threads/${threadId}/waits/${wait.id}/resolve`, {
                type: "decision",
                decision: "allow"
              })
            }
          />
        </p>
      </header>
      {wait.reason === undefined ? null : <p>{visibleLine(wait.reason)}</p>}
      {whole.error === null ? null : <Failure failure={whole.error} retry={() => void whole.refetch()} />}
      {isEditing ? null : wait.toolInput === undefined ? null : <Json label="Input" value={wait.toolInput} />}
      {asked?.content === undefined ? null : <Json label="Content" value={asked.content} />}
      {asked?.toolOutput === undefined ? null : <Json label="Output" value={asked.toolOutput} />}
      {wait.type === "client_tool" ? (
        <ToolResultForm isBusy={resolve.isPending} failure={resolve.error} onSend={resolve.mutate} />
      ) : isEditing ? (
        <EditedInput
          input={wait.toolInput}
          isBusy={resolve.isPending}
          failure={resolve.error}
          onCancel={() => setEditing(false)}
          onAllow={(toolInput) => resolve.mutate({ type: "decision", decision: "allow", rewrite: { toolInput } })}
        />
      ) : (
        <Decision
          isBusy={resolve.isPending || resolve.isSuccess}
          failure={resolve.error}
          scopes={wait.toolName !== undefined}
          onDecide={(verdict) => resolve.mutate({ type: "decision", ...verdict })}
          wish={wish}
          onWished={onWished}
          {...(edited && wait.toolInput !== undefined ? { edit: () => setEditing(true) } : {})}
        />
      )}
    </article>
  )
}
