/**
 * A value as YAML, to change and send: what changes is shown before, the server's refusal below, with its line marked. A
 * refused text stays as it was typed.
 */
import { useMutation } from "@tanstack/react-query"
import { lazy, Suspense, useId, useMemo, useState } from "react"
import type { Scope } from "../session/Session.tsx"
import { Diff } from "./Diff.tsx"
import { Failure, failureText } from "./Failure.tsx"
import { Gated } from "./Gated.tsx"
import { lineOf, read, written } from "./yaml.ts"
import type { YamlBoxProps } from "./YamlBox.tsx"

const YamlBox = lazy(() => import("./YamlBox.tsx").then((found) => ({ default: found.YamlBox })))

export const isParked = (answer: unknown): boolean =>
  typeof answer === "object" &&
  answer !== null &&
  "operation" in answer &&
  typeof answer.operation === "object" &&
  answer.operation !== null &&
  "state" in answer.operation &&
  answer.operation.state === "pending"

interface Kept {
  readonly value: unknown
  /** There is nothing yet that it changes: it can be sent as it is, and no difference is shown. */
  readonly isNew: boolean
  readonly save: (value: unknown) => Promise<unknown>
}

/** The text as it is typed, what it says, and what became of sending it. */
const useText = ({ isNew, save, value }: Kept) => {
  const before = written(value)
  const [typed, setTyped] = useState<string>()
  const text = typed ?? before
  const found = useMemo(() => read(text), [text])
  const send = useMutation({
    mutationFn: save,
    onSuccess: () => {
      if (!isNew) setTyped(undefined)
    }
  })
  const refused = send.error === null ? undefined : lineOf(text, failureText(send.error))
  const type = (to: string | undefined) => {
    send.reset()
    setTyped(to)
  }
  const isReady = !send.isPending && "value" in found && (isNew || text !== before)
  return {
    before,
    found,
    isReady,
    send,
    text,
    type,
    submit: () => {
      if (isReady) send.mutate(found.value)
    },
    wrongLine: "problem" in found ? found.line : refused
  }
}

/** Until the editor is there the text can be read. */
const Box = (props: YamlBoxProps) => (
  <Suspense fallback={<pre className="code-box">{props.text}</pre>}>
    <YamlBox {...props} />
  </Suspense>
)

export const YamlEditor = ({
  done = "Saved.",
  isNew = false,
  label,
  save,
  saveLabel,
  scope,
  value
}: Omit<Kept, "isNew"> & {
  readonly label: string
  readonly saveLabel: string
  readonly scope: Scope
  readonly isNew?: boolean
  /** What is said when it worked. */
  readonly done?: string
}) => {
  const { before, found, isReady, send, submit, text, type, wrongLine } = useText({ isNew, save, value })
  const labelId = useId()
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p className="label" id={labelId}>
        {label}
      </p>
      <Box labelId={labelId} text={text} wrongLine={wrongLine} onText={type} />
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
          <button type="button" onClick={() => type(undefined)}>
            Discard
          </button>
        )}
        {send.isSuccess ? (
          <span role="status">{isParked(send.data) ? "It waits for approval, in the inbox." : done}</span>
        ) : null}
      </div>
      {send.error === null ? null : (
        <Failure failure={send.error} {...(wrongLine === undefined ? {} : { where: `Line ${wrongLine}` })} />
      )}
    </form>
  )
}
