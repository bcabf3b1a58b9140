/** Another input for a call that waits: edited as JSON, with what changes shown before it is allowed. */
import { useId, useState } from "react"
import { Diff } from "../parts/Diff.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { useMay } from "../session/Session.tsx"

const written = (value: unknown) => JSON.stringify(value, null, 2) ?? ""

const parsed = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

export const EditedInput = ({
  failure,
  input,
  isBusy,
  onAllow,
  onCancel
}: {
  readonly input: unknown
  readonly isBusy: boolean
  readonly failure: unknown
  readonly onAllow: (input: unknown) => void
  readonly onCancel: () => void
}) => {
  const before = written(input)
  const [text, setText] = useState(before)
  const id = useId()
  const mayApprove = useMay("approve")
  const found = parsed(text)
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        if ("value" in found && !isBusy && mayApprove) onAllow(found.value)
      }}
    >
      <label htmlFor={id}>Input, as JSON</label>
      <textarea
        id={id}
        // biome-ignore lint/a11y/noAutofocus: whoever asked to edit wants to type
        autoFocus
        className="code"
        rows={Math.min(20, text.split("\n").length + 1)}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel()
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
      {"problem" in found ? (
        <p role="alert" className="problem">
          {found.problem}
        </p>
      ) : (
        <Diff before={before} after={written(found.value)} />
      )}
      <div className="buttons">
        <Gated scope="approve" className="primary" type="submit" disabled={isBusy || "problem" in found}>
          Allow with this input
        </Gated>
        <button type="button" onClick={onCancel}>
          Back
        </button>
      </div>
      {failure === null ? null : <Failure failure={failure} />}
    </form>
  )
}
