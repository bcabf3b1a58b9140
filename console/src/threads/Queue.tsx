/** Inputs that wait their turn: reworded, removed, or let in at once. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Time } from "../parts/Time.tsx"
import { visible } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { contentText } from "./rows.ts"

type Queued = components["schemas"]["QueuedMessage"]

type Change =
  | { readonly type: "edit"; readonly text: string }
  | { readonly type: "remove" }
  | { readonly type: "promote"; readonly mode: "steer" | "interrupt" }

const QueuedInput = ({
  input,
  onChanged,
  threadId
}: {
  readonly threadId: string
  readonly input: Queued
  readonly onChanged: () => void
}) => {
  const { troupe } = useSession()
  const [text, setText] = useState<string>()
  const params = { path: { threadId, inputId: input.id } }
  const change = useMutation({
    mutationFn: async (asked: Change): Promise<void> => {
      switch (asked.type) {
        case "edit":
          await troupe.api.PATCH("/v1/threads/{threadId}/queue/{inputId}", {
            params,
            body: { content: [{ type: "text", text: asked.text }] }
          })
          return
        case "remove":
          await troupe.api.DELETE("/v1/threads/{threadId}/queue/{inputId}", { params })
          return
        case "promote":
          await troupe.api.POST("/v1/threads/{threadId}/queue/{inputId}/promote", {
            params,
            body: { mode: asked.mode }
          })
      }
    },
    onSuccess: () => setText(undefined),
    onSettled: onChanged
  })
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
            <Gated scope="run" disabled={change.isPending} onClick={() => setText(contentText(input.content))}>
              Edit
            </Gated>
            <Gated
              scope="run"
              disabled={change.isPending}
              onClick={() => change.mutate({ type: "promote", mode: "steer" })}
            >
              Steer with it
            </Gated>
            <Gated
              scope="run"
              disabled={change.isPending}
              onClick={() => change.mutate({ type: "promote", mode: "interrupt" })}
            >
              Interrupt with it
            </Gated>
            <Gated
              scope="run"
              className="danger"
              disabled={change.isPending}
              onClick={() => change.mutate({ type: "remove" })}
            >
              Remove
            </Gated>
          </>
        ) : (
          <>
            <Gated
              scope="run"
              className="primary"
              disabled={change.isPending || text.trim() === ""}
              onClick={() => change.mutate({ type: "edit", text })}
            >
              Save
            </Gated>
            <button type="button" onClick={() => setText(undefined)}>
              Back
            </button>
          </>
        )}
      </div>
      {change.error === null ? null : <Failure failure={change.error} />}
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
