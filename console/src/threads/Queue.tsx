/** Inputs that wait their turn: reworded, removed, or let in at once. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Time } from "../parts/Time.tsx"
import { visible } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { contentText, reworded, textOf } from "./rows.ts"

type Queued = components["schemas"]["QueuedMessage"]

type Change =
  | { readonly type: "edit"; readonly content: Queued["content"] }
  | { readonly type: "remove" }
  | { readonly type: "promote"; readonly mode: "steer" | "interrupt" }

/** What can be done with an input as it stands. */
const asked = [
  { label: "Steer with it", change: { type: "promote", mode: "steer" }, className: "" },
  { label: "Interrupt with it", change: { type: "promote", mode: "interrupt" }, className: "" },
  { label: "Remove", change: { type: "remove" }, className: "danger" }
] as const satisfies ReadonlyArray<{
  readonly label: string
  readonly change: Change
  readonly className: string
}>

const useChange = (threadId: string, inputId: string, onDone: () => void, onSettled: () => void) => {
  const { troupe } = useSession()
  const params = { path: { threadId, inputId } }
  return useMutation({
    mutationFn: async (change: Change): Promise<void> => {
      switch (change.type) {
        case "edit":
          await troupe.api.PATCH("/v1/threads/{threadId}/queue/{inputId}", {
            params,
            body: { content: change.content }
          })
          return
        case "remove":
          await troupe.api.DELETE("/v1/threads/{threadId}/queue/{inputId}", { params })
          return
        case "promote":
          await troupe.api.POST("/v1/threads/{threadId}/queue/{inputId}/promote", {
            params,
            body: { mode: change.mode }
          })
      }
    },
    onSuccess: onDone,
    onSettled
  })
}

const QueuedInput = ({
  input,
  onChanged,
  threadId
}: {
  readonly threadId: string
  readonly input: Queued
  readonly onChanged: () => void
}) => {
  const [text, setText] = useState<string>()
  const { error, isPending, mutate } = useChange(threadId, input.id, () => setText(undefined), onChanged)
  const content = reworded(input.content, text ?? "")
  return (
    <li className="card">
      {text === undefined ? (
        <p className="words">{visible(contentText(input.content))}</p>
      ) : (
        <textarea
          aria-label="The input's words"
          // biome-ignore lint/a11y/noAutofocus: whoever asked to edit wants to type
          autoFocus
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <p className="quiet">
        {input.submitMode} · <Time at={input.queuedAt} />
      </p>
      <div className="buttons">
        {text === undefined ? (
          <>
            <Gated scope="run" disabled={isPending} onClick={() => setText(textOf(input.content))}>
              Edit
            </Gated>
            {asked.map(({ change, className, label }) => (
              <Gated key={label} scope="run" className={className} disabled={isPending} onClick={() => mutate(change)}>
                {label}
              </Gated>
            ))}
          </>
        ) : (
          <>
            <Gated
              scope="run"
              className="primary"
              disabled={isPending || content.length === 0}
              onClick={() => mutate({ type: "edit", content })}
            >
              Save
            </Gated>
            <button type="button" onClick={() => setText(undefined)}>
              Back
            </button>
          </>
        )}
      </div>
      {error === null ? null : <Failure failure={error} />}
    </li>
  )
}

export const Queue = ({
  onChanged,
  queued,
  threadId
}: {
  readonly threadId: string
  readonly queued: ReadonlyArray<Queued>
  readonly onChanged: () => void
}) =>
  queued.length === 0 ? null : (
    <section aria-label="Queue">
      <h2>Queue ({queued.length})</h2>
      <ol className="cards">
        {queued.map((input) => (
          <QueuedInput key={input.id} threadId={threadId} input={input} onChanged={onChanged} />
        ))}
      </ol>
    </section>
  )
