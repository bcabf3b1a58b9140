/** A message to the thread. While a turn runs it says how: after it, into it, or in its place. */
import { useMutation } from "@tanstack/react-query"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { keysOf } from "../parts/keysOf.ts"
import { useSession } from "../session/Session.tsx"

const modes = {
  queue: "when the turn is over",
  steer: "into the running turn, before its next model call",
  interrupt: "now: the running turn is cancelled"
} as const
type Mode = keyof typeof modes

/** How the message reaches the running turn. */
const Modes = ({
  isTurnMeant,
  mode,
  onMode,
  onTurnMeant
}: {
  readonly mode: Mode
  readonly isTurnMeant: boolean
  readonly onMode: (mode: Mode) => void
  readonly onTurnMeant: (isMeant: boolean) => void
}) => {
  const name = useId()
  return (
    <fieldset>
      <legend className="hidden">How the message reaches the running turn</legend>
      {keysOf(modes).map((each) => (
        <label key={each} className="check" title={modes[each]}>
          <input type="radio" name={name} checked={mode === each} onChange={() => onMode(each)} />
          {each}
        </label>
      ))}
      {mode === "queue" ? null : (
        <label className="check" title="Refused if another turn runs by then">
          <input type="checkbox" checked={isTurnMeant} onChange={(event) => onTurnMeant(event.target.checked)} />
          only this turn
        </label>
      )}
      <span className="quiet">{modes[mode]}</span>
    </fieldset>
  )
}

export const Composer = ({
  isBusy,
  onSent,
  threadId,
  turnId
}: {
  readonly threadId: string
  /** A turn runs or waits. */
  readonly isBusy: boolean
  /** That turn, as soon as it is known. */
  readonly turnId: string | undefined
  readonly onSent: () => void
}) => {
  const { troupe } = useSession()
  const [text, setText] = useState("")
  const [mode, setMode] = useState<Mode>("queue")
  const [isTurnMeant, setTurnMeant] = useState(true)
  const id = useId()
  const isNamed = isBusy && mode !== "queue" && isTurnMeant
  const send = useMutation({
    mutationFn: () =>
      answerOf(
        troupe.api.POST("/v1/threads/{threadId}/messages", {
          params: { path: { threadId } },
          body: {
            content: [{ type: "text", text }],
            ...(isBusy ? { mode } : {}),
            ...(isNamed && turnId !== undefined ? { expectedTurnId: turnId } : {})
          }
        })
      ),
    onSuccess: () => {
      setText("")
      onSent()
    }
  })
  // Whoever means this turn waits until it is known which it is.
  const isReady = text.trim() !== "" && !send.isPending && !(isNamed && turnId === undefined)
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) send.mutate()
      }}
    >
      <label htmlFor={id}>Message</label>
      <textarea
        id={id}
        rows={3}
        value={text}
        placeholder="Ctrl+Enter sends"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isReady) send.mutate()
        }}
      />
      <div className="buttons">
        <Gated scope="run" type="submit" className="primary" disabled={!isReady}>
          Send
        </Gated>
        {isBusy ? <Modes mode={mode} onMode={setMode} isTurnMeant={isTurnMeant} onTurnMeant={setTurnMeant} /> : null}
      </div>
      {send.error === null ? null : <Failure failure={send.error} />}
    </form>
  )
}
