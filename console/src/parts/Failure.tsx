/** What did not work, in the server's words, and what to do about it. */
import { TroupeError } from "../../../src/client/errors.ts"

export const failureText = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

export const Failure = ({ failure, retry }: { readonly failure: unknown; readonly retry?: () => void }) => (
  <div role="alert" className="problem">
    <p>{failureText(failure)}</p>
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
