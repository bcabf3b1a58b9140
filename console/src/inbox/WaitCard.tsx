/** One wait: what is asked about, exactly, and the ways to answer. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { type RefObject, useEffect, useRef, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { bornAt } from "../parts/born.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Json } from "../parts/Json.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { Decision } from "./Decision.tsx"
import { EditedInput } from "./EditedInput.tsx"
import { askerOf, type Thread, type Wait } from "./items.ts"
import { ThreadLink, WayTo } from "./ThreadLink.tsx"
import { ToolResultForm } from "./ToolResultForm.tsx"

type Resolution = components["schemas"]["WaitResolution"]

interface Of {
  readonly thread: Thread
  readonly wait: Wait
}

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

/** A body that answers it. */
const exampleOf = ({ type }: Wait): Resolution =>
  type === "client_tool" ? { type: "tool_result", output: { ok: true } } : { type: "decision", decision: "allow" }

const isOfCall = ({ point }: Wait) => point === undefined || point === "before_tool_call"

/** Whether it has come into view. */
const useSeen = (of: RefObject<HTMLElement | null>): boolean => {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (of.current === null) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    })
    observer.observe(of.current)
    return () => observer.disconnect()
  }, [of])
  return isSeen
}

/** What lists leave out: of a hook's question the text that it is about. Of calls they have all. */
const useWhole = ({ thread, wait }: Of, isSeen: boolean) => {
  const { troupe } = useSession()
  return useQuery({
    queryKey: ["wait", wait.id],
    enabled: isSeen && !isOfCall(wait),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      answerOf(
        troupe.api.GET("/v1/threads/{threadId}/waits/{waitId}", {
          params: { path: { threadId: thread.thread.id, waitId: wait.id } },
          signal
        })
      )
  })
}

const useResolve = ({ thread, wait }: Of) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Resolution) =>
      answerOf(
        troupe.api.POST("/v1/threads/{threadId}/waits/{waitId}/resolve", {
          params: { path: { threadId: thread.thread.id, waitId: wait.id } },
          body
        })
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] })
  })
}

const Heading = ({ thread, wait }: Of) => {
  const { id, title } = thread.thread
  const asker = askerOf(thread)
  const born = bornAt(wait.id)
  return (
    <header>
      <h2>{aboutOf(wait)}</h2>
      <p className="quiet">
        <ThreadLink threadId={id} title={title} />
        {asker === undefined ? null : (
          <>
            , {thread.thread.askedBy === undefined ? "judging for" : "asked for by"} <WayTo threadId={asker} />
          </>
        )}
        {born === undefined ? null : (
          <>
            {" · since "}
            <Time at={new Date(born).toISOString()} />
          </>
        )}
        {wait.expiresAt === undefined ? null : (
          <>
            {" · expires "}
            <Time at={wait.expiresAt} />
          </>
        )}
        {" · "}
        <Copy
          label="copy as curl"
          text={() => curlOf("POST", `/v1/threads/${id}/waits/${wait.id}/resolve`, exampleOf(wait))}
        />
      </p>
    </header>
  )
}

export const WaitCard = ({ isChosen, thread, wait }: Of & { readonly isChosen: boolean }) => {
  const card = useRef<HTMLElement>(null)
  const [isEditing, setEditing] = useState(false)
  const whole = useWhole({ thread, wait }, useSeen(card))
  const resolve = useResolve({ thread, wait })
  const asked = whole.data?.wait
  // Nobody answers what is not shown yet.
  const isBusy = resolve.isPending || resolve.isSuccess || (!isOfCall(wait) && asked === undefined)
  const close = () => {
    setEditing(false)
    card.current?.closest<HTMLElement>("[tabindex]")?.focus()
  }
  return (
    <article ref={card} className={isChosen ? "card chosen" : "card"} aria-label={aboutOf(wait)}>
      <Heading thread={thread} wait={wait} />
      {wait.reason === undefined ? null : <p>{visibleLine(wait.reason)}</p>}
      {whole.error === null ? null : <Failure failure={whole.error} retry={() => void whole.refetch()} />}
      {isEditing || wait.toolInput === undefined ? null : <Json label="Input" value={wait.toolInput} />}
      {asked?.content === undefined ? null : <Json label="Content" value={asked.content} />}
      {asked?.toolOutput === undefined ? null : <Json label="Output" value={asked.toolOutput} />}
      {wait.type === "client_tool" ? (
        <ToolResultForm isBusy={isBusy} failure={resolve.error} onSend={resolve.mutate} />
      ) : isEditing ? (
        <EditedInput
          input={wait.toolInput}
          isBusy={isBusy}
          failure={resolve.error}
          onCancel={close}
          onAllow={(toolInput) => resolve.mutate({ type: "decision", decision: "allow", rewrite: { toolInput } })}
        />
      ) : (
        <Decision
          of={wait.id}
          isBusy={isBusy}
          failure={resolve.error}
          scopes={wait.toolName !== undefined}
          onDecide={(verdict) => resolve.mutate({ type: "decision", ...verdict })}
          {...(isOfCall(wait) && wait.toolInput !== undefined ? { edit: () => setEditing(true) } : {})}
        />
      )}
    </article>
  )
}
