/**
 * A value as YAML, to change and send: what changes is shown before, the server's refusal below. A refused text stays
 * as it was typed.
 */
import { useMutation } from "@tanstack/react-query"
import { useId, useState } from "react"
import type { Scope } from "../session/Session.tsx"
import { Diff } from "./Diff.tsx"
import { Failure } from "./Failure.tsx"
import { Gated } from "./Gated.tsx"
import { read, written } from "./yaml.ts"

export const isParked = (answer: unknown): boolean =>
  typeof answer === "object" &&
  answer !== null &&
  "operation" in answer &&
  typeof answer.operation === "object" &&
  answer.operation !== null &&
  "state" in answer.operation &&
  answer.operation.state === "pending"

export const YamlEditor = ({
  done = "Saved.",
  isNew = false,
  label,
  save,
  saveLabel,
  scope,
  value
}: {
  readonly label: string
  readonly saveLabel: string
  readonly scope: Scope
  readonly value: unknown
  /** There is nothing yet that it changes: it can be sent as it is, and no difference is shown. */
  readonly isNew?: boolean
  /** What is said when it worked. */
  readonly done?: string
  readonly save: (value: unknown) => Promise<unknown>
}) => {
  const before = written(value)
  const [typed, setTyped] = useState<string>()
  const text = typed ?? before
  const id = useId()
  const found = read(text)
  const send = useMutation({
    mutationFn: save,
    onSuccess: () => {
      if (!isNew) setTyped(undefined)
    }
  })
  const isReady = !send.isPending && "value" in found && (isNew || text !== before)
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) send.mutate(found.value)
      }}
    >
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="code"
        rows={Math.min(24, text.split("\n").length + 1)}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          send.reset()
          setTyped(event.target.value)
        }}
      />
      {"problem" in found ? (
        <p role="alert" className="problem">
          {found.problem}
        </p>
      ) : isNew || text === before ? null : (
        <Diff before={before} after={text} />
      )}
      <div className="buttons">
        <Gated scope={scope} type="submit" className="primary" disabled={!isReady}>
          {saveLabel}
        </Gated>
        {text === before ? null : (
          <button
            type="button"
            onClick={() => {
              send.reset()
              setTyped(undefined)
            }}
          >
            Discard
          </button>
        )}
        {send.isSuccess ? (
          <span role="status">{isParked(send.data) ? "It waits for approval, in the inbox." : done}</span>
        ) : null}
      </div>
      {send.error === null ? null : <Failure failure={send.error} />}
    </form>
  )
}
