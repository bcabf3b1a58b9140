/**
 * A value as YAML, to change and send: what changes is shown before, the server's refusal below, with its line marked.
 * A refused text stays as it was typed.
 *
 * Y1. What is typed is held against what it was typed over, however often the page reads that anew. Where the server
 *     says that somebody was first, it stands over theirs from then on, and the difference says so.
 */
import { useMutation } from "@tanstack/react-query"
import { lazy, Suspense, useId, useMemo, useState } from "react"
import { TroupeError } from "../../../src/client/errors.ts"
import type { Scope } from "../session/Session.tsx"
import { Diff } from "./Diff.tsx"
import { Failure, failureText } from "./Failure.tsx"
import { Gated } from "./Gated.tsx"
import { isParked, parkedWords } from "./parked.ts"
import { lineOf, read, written } from "./yaml.ts"
import type { YamlBoxProps } from "./YamlBox.tsx"

const YamlBox = lazy(() => import("./YamlBox.tsx").then((found) => ({ default: found.YamlBox })))

/** What a text is written over, and its version where it has one. */
export interface Over {
  readonly value: unknown
  readonly etag?: string | undefined
}

interface Kept extends Over {
  /** There is nothing yet that it changes: it can be sent as it is, and no difference is shown. */
  readonly isNew: boolean
  readonly save: (value: unknown, over: Over) => Promise<unknown>
}

/** The text as it is typed, what it says, and what became of sending it. */
const useText = ({ etag, isNew, save, value }: Kept) => {
  /** `over` is undefined where that is whatever the page has read last. */
  const [typed, setTyped] = useState<{ readonly text: string; readonly over: Over | undefined }>()
  const over = typed?.over ?? { value, etag }
  const before = written(over.value)
  const text = typed?.text ?? before
  const found = useMemo(() => read(text), [text])
  const send = useMutation({
    mutationFn: (changed: unknown) => save(changed, over),
    onSuccess: () => {
      if (!isNew) setTyped(undefined)
    },
    // Y1.
    onError: (failure) => {
      if (failure instanceof TroupeError && failure.status === 412) setTyped({ text, over: undefined })
    }
  })
  const refused = send.error === null ? undefined : lineOf(text, failureText(send.error))
  const type = (to: string | undefined) => {
    send.reset()
    setTyped(to === undefined ? undefined : { text: to, over: isNew ? undefined : over })
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
  etag,
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
  const { before, found, isReady, send, submit, text, type, wrongLine } = useText({ etag, isNew, save, value })
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
        {send.isSuccess ? <span role="status">{isParked(send.data) ? parkedWords : done}</span> : null}
      </div>
      {send.error === null ? null : (
        <Failure failure={send.error} {...(wrongLine === undefined ? {} : { where: `Line ${wrongLine}` })} />
      )}
    </form>
  )
}
