/** Allow or deny, with a reason for the log. */
import { useId, useRef, useState } from "react"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { useMay } from "../session/Session.tsx"
import { useKeys } from "./keys.ts"

export interface Verdict {
  readonly decision: "allow" | "deny"
  readonly reason?: string
  readonly scope?: "thread"
}

/** What is answered so far, and how it is given. */
const useVerdict = (onDecide: (verdict: Verdict) => void) => {
  const [reason, setReason] = useState("")
  const [forThread, setForThread] = useState(false)
  const decide = (decision: "allow" | "deny") =>
    onDecide({
      decision,
      ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
      ...(decision === "allow" && forThread ? { scope: "thread" } : {})
    })
  return { decide, forThread, reason, setForThread, setReason }
}

export const Decision = ({
  allowLabel = "Allow",
  edit,
  failure,
  isBusy,
  of,
  onDecide,
  scopes
}: {
  /** Id of what is decided: whose keys it hears. */
  readonly of: string
  readonly allowLabel?: string
  readonly isBusy: boolean
  readonly failure: unknown
  /** Opens the input for editing, where it may be edited. */
  readonly edit?: () => void
  /** An allow may go for the thread. */
  readonly scopes: boolean
  readonly onDecide: (verdict: Verdict) => void
}) => {
  const { decide, forThread, reason, setForThread, setReason } = useVerdict(onDecide)
  const mayApprove = useMay("approve")
  const reasonId = useId()
  const reasonBox = useRef<HTMLInputElement>(null)
  useKeys(of, (wish) => {
    if (isBusy) return
    if (wish === "edit") edit?.()
    // A denial wants its reason: Enter sends it.
    else if (wish === "deny") reasonBox.current?.focus()
    else if (mayApprove) decide("allow")
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        decide("deny")
      }}
    >
      <label htmlFor={reasonId}>Reason</label>
      <input
        id={reasonId}
        ref={reasonBox}
        value={reason}
        maxLength={1_024}
        placeholder="for the log, and of a denial for the model"
        onChange={(event) => setReason(event.target.value)}
      />
      {scopes ? (
        <label className="check">
          <input type="checkbox" checked={forThread} onChange={(event) => setForThread(event.target.checked)} />
          for every such call in this thread
        </label>
      ) : null}
      <div className="buttons">
        <Gated scope="approve" className="primary" disabled={isBusy} onClick={() => decide("allow")}>
          {allowLabel}
        </Gated>
        <Gated scope="approve" className="danger" disabled={isBusy} type="submit">
          Deny
        </Gated>
        {edit === undefined ? null : (
          <button type="button" onClick={edit} disabled={isBusy}>
            Edit the input
          </button>
        )}
      </div>
      {failure === null ? null : <Failure failure={failure} />}
    </form>
  )
}
