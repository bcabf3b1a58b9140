/** A downloaded thread, opened: all of it stays in this page. It asks no server for anything, and needs no key. */
import { Link } from "@tanstack/react-router"
import { useId, useMemo, useState } from "react"
import { StepsChart } from "../actors/ChartView.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { RawEvents } from "./RawEvents.tsx"
import { Timeline } from "./Timeline.tsx"
import { Transcript } from "./Transcript.tsx"
import { empty, type Movable, type Window } from "./window.ts"
import { fileEnding } from "../file/format.ts"
import { parseFile, type ThreadFile } from "../file/parse.ts"

const views = ["Conversation", "Events", "Timeline", "Chart"] as const
type View = (typeof views)[number]

/** All that there is, is here. */
const still: Movable = { earlier: () => {}, later: () => {}, find: () => Promise.resolve(undefined) }

const Look = ({
  file,
  onView,
  view
}: {
  readonly file: ThreadFile
  readonly view: View
  readonly onView: (view: View) => void
}) => {
  const [seq, setSeq] = useState<number>()
  const window: Window = useMemo(
    () => ({ ...empty, events: file.events, lastSeq: file.events.at(-1)?.seq ?? 0, isLoading: false }),
    [file]
  )
  const onName = (named: number) => {
    setSeq(named)
    onView("Events")
  }
  switch (view) {
    case "Conversation":
      return <Transcript log={still} window={window} seq={seq} />
    case "Events":
      return <RawEvents log={still} window={window} seq={seq} onName={onName} />
    case "Timeline":
      return <Timeline log={still} window={window} seq={seq} onName={onName} />
    case "Chart":
      return (
        <StepsChart
          chart={file.chart}
          steps={file.steps}
          link={(named, words) => (
            <button type="button" className="link" onClick={() => onName(named)}>
              {named} {words}
            </button>
          )}
        />
      )
  }
}

const Opened = ({ file }: { readonly file: ThreadFile }) => {
  const [view, setView] = useState<View>("Conversation")
  const { events, exportedAt, steps, thread, withoutContent } = file
  return (
    <>
      <header>
        <h2>{visibleLine(thread.title ?? thread.id)}</h2>
        <p className="quiet">
          {visibleLine(thread.id)} · {events.length} events, {steps.length} steps · downloaded <Time at={exportedAt} />
          {withoutContent ? " · without content" : ""}
        </p>
        <fieldset className="buttons" aria-label="Views">
          {views.map((each) => (
            <button key={each} type="button" aria-pressed={view === each} onClick={() => setView(each)}>
              {each}
            </button>
          ))}
        </fieldset>
      </header>
      <Look file={file} view={view} onView={setView} />
    </>
  )
}

export const FilePage = () => {
  const [opened, setOpened] = useState<{ readonly file: ThreadFile } | { readonly failure: unknown }>()
  const id = useId()
  const open = async (file: File) => {
    try {
      setOpened({ file: parseFile(await file.text()) })
    } catch (failure) {
      setOpened({ failure })
    }
  }
  return (
    <div className="frame">
      <header>
        <Link to="/" className="brand">
          Troupe
        </Link>
      </header>
      <main id="content">
        <section className="tall thread">
          <h1>Open a downloaded thread</h1>
          <p className="filters">
            <label htmlFor={id}>File</label>
            <input
              id={id}
              type="file"
              accept={`${fileEnding},.jsonl`}
              onChange={({ target }) => {
                const file = target.files?.[0]
                if (file !== undefined) void open(file)
              }}
            />
            <span className="quiet">It stays in this page: nothing of it is sent anywhere.</span>
          </p>
          {opened === undefined ? null : "failure" in opened ? (
            <Failure failure={opened.failure} />
          ) : (
            <Opened key={`${opened.file.thread.id} ${opened.file.exportedAt}`} file={opened.file} />
          )}
        </section>
      </main>
    </div>
  )
}
