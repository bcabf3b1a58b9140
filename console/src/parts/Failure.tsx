/** What did not work, in the server's words, and what to do about it. */
import { TroupeError } from "../../../src/client/errors.ts"

export const failureText = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

export const Failure = ({
  failure,
  retry,
  where
}: {
  readonly failure: unknown
  /** In what was sent. */
  readonly where?: string
  readonly retry?: () => void
}) => (
  <div role="alert" className="problem">
    <p>
      {where === undefined ? "" : `${where}: `}
      {failureText(failure)}
    </p>
    {failure instanceof TroupeError ? (
      <p className="quiet">
        {failure.status} {failure.error}
        {failure.code === undefined ? "" : ` (${failure.code})`}
        {failure.requestId === undefined ? "" : `, request ${failure.requestId}`}
      </p>
    ) : null}
    {retry === undefined ? null : (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)
