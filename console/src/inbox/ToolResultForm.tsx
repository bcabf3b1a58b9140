/** What a client's tool has returned, given by hand. */
import { useId, useState } from "react"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"

export const ToolResultForm = ({
  failure,
  isBusy,
  onSend
}: {
  readonly isBusy: boolean
  readonly failure: unknown
  readonly onSend: (result: components["schemas"]["WaitToolResult"]) => void
}) => {
  const [text, setText] = useState("")
  const [problem, setProblem] = useState<string>()
  const id = useId()
  const send = () => {
    try {
      onSend({ type: "tool_result", output: JSON.parse(text) })
      setProblem(undefined)
    } catch (error) {
      setProblem(`This is no JSON: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label htmlFor={id}>Output of the tool, as JSON</label>
      <textarea
        id={id}
        className="code"
        rows={3}
        spellCheck={false}
        placeholder='{"ok": true}'
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <div className="buttons">
        <Gated scope="run" className="primary" type="submit" disabled={isBusy || text.trim() === ""}>
          Send the result
        </Gated>
        <Gated
          scope="run"
          className="danger"
          disabled={isBusy}
          onClick={() =>
            onSend({
              type: "tool_result",
              error: { code: "declined", message: text.trim() || "Declined by a person." }
            })
          }
        >
          Say that it failed
        </Gated>
      </div>
      {failure === null ? null : <Failure failure={failure} />}
    </form>
  )
}
