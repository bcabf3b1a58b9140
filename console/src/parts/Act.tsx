/** A button that changes something at the server, and says below what came of it. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { Scope } from "../session/Session.tsx"
import { Failure } from "./Failure.tsx"
import { Gated } from "./Gated.tsx"
import { isParked, parkedWords } from "./parked.ts"

export const Act = ({
  act,
  disabled = false,
  label,
  onDone,
  scope,
  sure
}: {
  readonly label: string
  readonly scope: Scope
  readonly disabled?: boolean
  /** Of what cannot be undone: the words of a second button. */
  readonly sure?: string
  readonly act: () => Promise<unknown>
  readonly onDone: () => unknown
}) => {
  const [isAsked, setAsked] = useState(false)
  const run = useMutation({ mutationFn: act, onSuccess: onDone, onSettled: () => setAsked(false) })
  const danger = sure === undefined ? "" : "danger"
  return (
    <span className="act">
      {isAsked ? (
        <span className="buttons">
          <Gated scope={scope} className={danger} disabled={run.isPending} onClick={() => run.mutate()}>
            {sure}
          </Gated>
          <button type="button" onClick={() => setAsked(false)}>
            Back
          </button>
        </span>
      ) : (
        <Gated
          scope={scope}
          className={danger}
          disabled={disabled || run.isPending}
          onClick={() => (sure === undefined ? run.mutate() : setAsked(true))}
        >
          {label}
        </Gated>
      )}
      {run.isSuccess && isParked(run.data) ? <span role="status">{parkedWords}</span> : null}
      {run.error === null ? null : <Failure failure={run.error} />}
    </span>
  )
}
