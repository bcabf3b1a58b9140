/** What went on, and when: lanes of bars over time. A bar leads to its event. */
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from "react"
import { duration } from "../parts/duration.ts"
import { type Bar, barsOf, laneNames } from "./lanes.ts"
import { type Drawn, drawnBars, type PlacedLane, placedLanes } from "./placed.ts"
import { type Scale, scaleOf } from "./scale.ts"
import { type Movable, reachesEnd, reachesStart, type Window } from "./window.ts"

const lineHeight = 22
/** Pixels, below which bars are drawn as one. */
const leastPx = 3
const mostZoom = 2 ** 16

const nameOf = ({ from, isBad, label, lane, seq, to }: Bar) => {
  const length = to === undefined ? "goes on" : duration(to - from)
  return `${laneNames[lane]}: ${label}, ${length}${isBad ? ", failed" : ""}, event ${seq}`
}

/** Now, once a second while something goes on. */
const useNow = (isRunning: boolean) => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}

/** The part of a wide picture that is seen, in fractions of the whole. */
const useSeen = (place: RefObject<HTMLElement | null>, zoom: number) => {
  const [seen, setSeen] = useState({ from: 0, to: 1, widthPx: 1_000 })
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const look = () => {
      const { clientWidth, scrollLeft } = element
      const whole = Math.max(1, clientWidth * zoom)
      setSeen({ from: (scrollLeft - clientWidth) / whole, to: (scrollLeft + 2 * clientWidth) / whole, widthPx: whole })
    }
    look()
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    element.addEventListener("scroll", look)
    return () => {
      sizes.disconnect()
      element.removeEventListener("scroll", look)
    }
  }, [place, zoom])
  return seen
}

const BarView = ({
  drawn: { count, placed },
  id,
  isChosen,
  onName
}: {
  readonly drawn: Drawn
  readonly id: string
  readonly isChosen: boolean
  readonly onName: (seq: number) => void
}) => {
  const { bar, left, line, width } = placed
  const name = count === 1 ? nameOf(bar) : `${nameOf(bar)}, and ${count - 1} more here`
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and says which bar is meant
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list hears the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      aria-label={name}
      title={name}
      className={`bar-of ${bar.lane}${bar.isBad ? " failed" : ""}${bar.to === undefined ? " open" : ""}`}
      style={{ left: `${100 * left}%`, width: `max(${leastPx}px, ${100 * width}%)`, top: 2 + line * lineHeight }}
      onClick={() => onName(bar.seq)}
    >
      {bar.label}
    </div>
  )
}

const Lanes = ({
  chosen,
  idOf,
  lanes,
  onName,
  scale,
  seen: { from, to, widthPx }
}: {
  readonly lanes: ReadonlyArray<PlacedLane>
  readonly scale: Scale
  readonly seen: { readonly from: number; readonly to: number; readonly widthPx: number }
  readonly chosen: Bar | undefined
  readonly idOf: (bar: Bar) => string
  readonly onName: (seq: number) => void
}) => (
  <>
    {lanes.map((lane) => (
      // biome-ignore lint/a11y/useSemanticElements: a group of options, not of a form
      <div
        key={lane.lane}
        role="group"
        aria-label={laneNames[lane.lane]}
        className="lane"
        style={{ height: lane.lines * lineHeight + 4 }}
      >
        {drawnBars(lane, { from, to, least: leastPx / widthPx }, chosen).map((drawn) => (
          <BarView
            key={idOf(drawn.placed.bar)}
            id={idOf(drawn.placed.bar)}
            drawn={drawn}
            isChosen={drawn.placed.bar === chosen}
            onName={onName}
          />
        ))}
      </div>
    ))}
    {scale.cuts.map(({ at, pausedMs }) => (
      <span
        key={at}
        className="cut"
        aria-hidden="true"
        title={`${duration(pausedMs)} without an event, drawn shorter`}
        style={{ left: `${(100 * at) / scale.length}%` }}
      />
    ))}
  </>
)

const Zoom = ({
  log,
  onZoom,
  window,
  zoom
}: {
  readonly log: Movable
  readonly window: Window
  readonly zoom: number
  readonly onZoom: (zoom: number) => void
}) => (
  <div className="buttons">
    <button type="button" disabled={zoom <= 1} onClick={() => onZoom(zoom / 2)}>
      Zoom out
    </button>
    <button type="button" disabled={zoom >= mostZoom} onClick={() => onZoom(zoom * 2)}>
      Zoom in
    </button>
    <button type="button" disabled={zoom === 1} onClick={() => onZoom(1)}>
      Whole
    </button>
    {reachesStart(window) ? null : (
      <button type="button" onClick={log.earlier}>
        Load what was before
      </button>
    )}
    {reachesEnd(window) ? null : (
      <button type="button" onClick={log.later}>
        Load what came then
      </button>
    )}
    <span className="quiet">
      events #{window.events[0]?.seq ?? 0} to #{window.events.at(-1)?.seq ?? 0} of {window.lastSeq}
    </span>
  </div>
)

/** The picture's width, as a multiple of its place; what is in the middle stays there. */
const useZoom = (place: RefObject<HTMLElement | null>) => {
  const [zoom, setZoom] = useState(1)
  const middle = useRef<number>(undefined)
  const zoomTo = (next: number) => {
    const element = place.current
    if (element !== null) middle.current = (element.scrollLeft + element.clientWidth / 2) / (element.clientWidth * zoom)
    setZoom(Math.min(mostZoom, Math.max(1, next)))
  }
  useEffect(() => {
    const element = place.current
    if (element === null || middle.current === undefined) return
    element.scrollLeft = middle.current * element.clientWidth * zoom - element.clientWidth / 2
    middle.current = undefined
  }, [place, zoom])
  return [zoom, zoomTo] as const
}

/** Bars of the window, in their places. */
const useBars = (window: Window) => {
  const isEnd = reachesEnd(window)
  const bars = useMemo(() => barsOf(window.events, isEnd), [window.events, isEnd])
  const now = useNow(bars.some(({ to }) => to === undefined))
  const latest = Math.max(now, Date.parse(window.events.at(-1)?.occurredAt ?? "") || 0)
  return useMemo(() => {
    const scale = scaleOf(bars, latest)
    return { bars, scale, lanes: placedLanes(bars, scale, latest) }
  }, [bars, latest])
}

interface Keys {
  readonly bars: ReadonlyArray<Bar>
  readonly chosen: Bar | undefined
  readonly choose: (bar: Bar | undefined) => void
  readonly onName: (seq: number) => void
  readonly zoom: number
  readonly zoomTo: (zoom: number) => void
}

const keysOf = ({ bars, choose, chosen, onName, zoom, zoomTo }: Keys) => {
  const index = chosen === undefined ? -1 : bars.indexOf(chosen)
  const does = new Map([
    ["ArrowRight", () => choose(bars[index + 1])],
    ["ArrowLeft", () => choose(bars[Math.max(0, index - 1)])],
    ["Home", () => choose(bars[0])],
    ["End", () => choose(bars.at(-1))],
    ["+", () => zoomTo(zoom * 2)],
    ["-", () => zoomTo(zoom / 2)],
    ["Enter", () => chosen !== undefined && onName(chosen.seq)]
  ])
  return (event: KeyboardEvent) => {
    const act = does.get(event.key)
    if (act === undefined) return
    event.preventDefault()
    act()
  }
}

const help = "A bar leads to its event. The arrow keys go from bar to bar, Enter leads to the event, + and - zoom."

export const Timeline = ({
  log,
  onName,
  seq,
  window
}: {
  readonly log: Movable
  readonly window: Window
  readonly seq: number | undefined
  readonly onName: (seq: number) => void
}) => {
  const [at, setAt] = useState<Bar>()
  const prefix = useId()
  const place = useRef<HTMLDivElement>(null)
  const [zoom, zoomTo] = useZoom(place)
  const seen = useSeen(place, zoom)
  const { bars, lanes, scale } = useBars(window)
  const chosen = bars.find((bar) => bar.lane === at?.lane && bar.seq === at.seq) ?? bars.find((bar) => bar.seq === seq)
  const idOf = ({ lane, seq }: Bar) => `${prefix}${lane}-${seq}`
  const choose = (bar: Bar | undefined) => {
    const element = place.current
    if (bar === undefined || element === null) return
    setAt(bar)
    const x = (scale.at(bar.from) / scale.length) * element.clientWidth * zoom
    if (x < element.scrollLeft || x > element.scrollLeft + element.clientWidth)
      element.scrollLeft = x - element.clientWidth / 2
  }
  return (
    <section className="timeline" aria-label="Timeline">
      <Zoom log={log} window={window} zoom={zoom} onZoom={zoomTo} />
      <div className="timeline-body">
        <ul className="lane-names" aria-hidden="true">
          {lanes.map(({ lane, lines }) => (
            <li key={lane} style={{ height: lines * lineHeight + 4 }}>
              {laneNames[lane]}
            </li>
          ))}
        </ul>
        <div
          ref={place}
          className="lanes"
          role="listbox"
          tabIndex={0}
          aria-label="What went on"
          aria-orientation="horizontal"
          {...(chosen === undefined ? {} : { "aria-activedescendant": idOf(chosen) })}
          onKeyDown={keysOf({ bars, chosen, choose, onName, zoom, zoomTo })}
        >
          <div role="presentation" className="lanes-whole" style={{ width: `${100 * zoom}%` }}>
            <Lanes lanes={lanes} scale={scale} seen={seen} chosen={chosen} idOf={idOf} onName={onName} />
          </div>
        </div>
      </div>
      <p className="quiet">
        {chosen === undefined ? (bars.length === 0 ? "Nothing has happened here yet." : help) : nameOf(chosen)}
      </p>
    </section>
  )
}
