/** The whole thread as a file (file/format.ts), with its content or without. */
import { useEffect, useRef, useState } from "react"
import { exported } from "../file/exporting.ts"
import { fileEnding, type Thread } from "../file/format.ts"
import { Failure } from "../parts/Failure.tsx"
import { useSession } from "../session/Session.tsx"

const save = (file: Blob, name: string) => {
  const url = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

export const Download = ({ thread }: { readonly thread: Thread }) => {
  const { troupe } = useSession()
  const [part, setPart] = useState<number>()
  const [failure, setFailure] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const download = async (withoutContent: boolean) => {
    const reading = new AbortController()
    running.current = reading
    setFailure(undefined)
    setPart(0)
    try {
      const { signal } = reading
      save(
        await exported({ troupe, thread, threadId: thread.id, signal }, withoutContent, setPart),
        `${thread.id}${withoutContent ? ".without-content" : ""}${fileEnding}`
      )
    } catch (why) {
      if (!reading.signal.aborted) setFailure(why)
    } finally {
      setPart(undefined)
    }
  }
  return (
    <>
      <button type="button" disabled={part !== undefined} onClick={() => void download(false)}>
        Download
      </button>
      <button
        type="button"
        disabled={part !== undefined}
        title="Ids, names, types, times, sizes, codes and usage: for reports of what went wrong"
        onClick={() => void download(true)}
      >
        Download without content
      </button>
      {part === undefined ? null : (
        <>
          <span role="status">{Math.floor(100 * part)} %</span>
          <button type="button" onClick={() => running.current?.abort()}>
            Stop
          </button>
        </>
      )}
      {failure === undefined ? null : <Failure failure={failure} />}
    </>
  )
}
