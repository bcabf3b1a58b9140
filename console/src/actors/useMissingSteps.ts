/** Asks for the steps around the place that is looked at where they are missing: a long log is never read whole. */
import { useEffect, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { useSession } from "../session/Session.tsx"
import { merged, missing, portion, type Steps } from "./steps.ts"

export const useMissingSteps = ({
  actorId,
  at,
  end,
  onSteps,
  steps
}: {
  readonly actorId: string
  /** The place. Undefined asks for nothing. */
  readonly at: number | undefined
  /** The last position of the actor's log, as far as it is known. */
  readonly end: number
  readonly steps: Steps
  readonly onSteps: (change: (held: Steps) => Steps) => void
}) => {
  const { troupe } = useSession()
  const [failure, setFailure] = useState<unknown>()
  const afterPos = at === undefined ? undefined : missing(steps, at, end)
  const hasFailed = failure !== undefined
  // Of a place that an answer leaves as it was nothing is asked again: the effect runs for another place alone.
  useEffect(() => {
    if (afterPos === undefined || hasFailed) return
    const left = new AbortController()
    answerOf(
      troupe.api.GET("/v1/actors/{actorId}/steps", {
        params: { path: { actorId }, query: { afterPos, limit: portion } },
        signal: left.signal
      })
    ).then(
      (page) => onSteps((held) => merged(held, page.steps)),
      (cause: unknown) => (left.signal.aborted ? undefined : setFailure(cause))
    )
    return () => left.abort()
  }, [troupe, actorId, afterPos, hasFailed, onSteps])
  return { failure, retry: () => setFailure(undefined) }
}
