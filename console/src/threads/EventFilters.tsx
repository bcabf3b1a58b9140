/** What is shown of the events that are loaded, and the search for one that is not. */
import { useEffect, useId, useRef, useState } from "react"
import type { LogEvent } from "../../../src/client/follow.ts"
import { Failure } from "../parts/Failure.tsx"
import { type Filter, isFiltered, types } from "./filter.ts"
import { firstOf, lastOf, type Movable, reachesEnd, reachesStart, type Window } from "./window.ts"

type Direction = "earlier" | "later"

/** Reads on from the window until an event fits. */
const Search = ({
  fits,
  log,
  onName,
  window
}: {
  readonly fits: (event: LogEvent) => boolean
  readonly log: Movable
  readonly window: Window
  readonly onName: (seq: number) => void
}) => {
  const [state, setState] = useState<Direction | "none" | { readonly failure: unknown }>()
  const running = useRef<AbortController>(undefined)
  const first = firstOf(window)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter, or another stretch, is another search
  useEffect(() => {
    setState(undefined)
    return () => running.current?.abort()
  }, [fits, first])
  const stop = () => {
    running.current?.abort()
    setState(undefined)
  }
  const look = async (direction: Direction) => {
    const search = new AbortController()
    running.current = search
    const { signal } = search
    setState(direction)
    try {
      const found = await log.find(fits, direction, signal)
      if (signal.aborted) return
      setState(found === undefined ? "none" : undefined)
      if (found !== undefined) onName(found.seq)
    } catch (failure) {
      if (!signal.aborted) setState({ failure })
    }
  }
  const isBusy = state === "earlier" || state === "later"
  const buttons = [
    { direction: "earlier", label: "Search before them", isDone: reachesStart(window) },
    { direction: "later", label: "Search behind them", isDone: reachesEnd(window) }
  ] as const
  return (
    <>
      {buttons.map(({ direction, isDone, label }) => (
        <button key={direction} type="button" disabled={isBusy || isDone} onClick={() => void look(direction)}>
          {label}
        </button>
      ))}
      {isBusy ? (
        <button type="button" onClick={stop}>
          Stop
        </button>
      ) : null}
      <span role="status">{isBusy ? "Searching…" : state === "none" ? "There is none." : ""}</span>
      {typeof state === "object" ? <Failure failure={state.failure} /> : null}
    </>
  )
}

export const EventFilters = ({
  filter,
  fits,
  found,
  log,
  onFilter,
  onName,
  window
}: {
  readonly filter: Filter
  readonly fits: (event: LogEvent) => boolean
  /** How many of the loaded events fit. */
  readonly found: number
  readonly log: Movable
  readonly window: Window
  readonly onFilter: (filter: Filter) => void
  readonly onName: (seq: number) => void
}) => {
  const ids = { type: useId(), words: useId() }
  const loaded = `#${firstOf(window)} to #${lastOf(window)}`
  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={ids.type}>Type</label>
      <select id={ids.type} value={filter.type} onChange={({ target }) => onFilter({ ...filter, type: target.value })}>
        <option value="">all</option>
        {types.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <label htmlFor={ids.words}>Text</label>
      <input
        id={ids.words}
        value={filter.words}
        onChange={({ target }) => onFilter({ ...filter, words: target.value })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={filter.failures}
          onChange={({ target }) => onFilter({ ...filter, failures: target.checked })}
        />{" "}
        failures
      </label>
      <span className="quiet">
        {isFiltered(filter)
          ? `${found} of the events ${loaded} that are loaded; the log has ${window.lastSeq}`
          : `${loaded} of ${window.lastSeq}`}
      </span>
      {isFiltered(filter) ? <Search fits={fits} log={log} window={window} onName={onName} /> : null}
    </form>
  )
}
