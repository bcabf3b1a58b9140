/** A chart as a picture: its states and transitions where the build has put them, the state lit, the last way drawn. */
import { memo, useEffect, useId, useRef } from "react"
import type { Drawing as Drawn, DrawnLine, DrawnState } from "./drawn.ts"

const d = (points: DrawnLine["points"]) => points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x} ${y}`).join("")

/** The state itself, or one that it is a part of. */
const holds = (state: string, id: string) => state === id || state.startsWith(`${id}.`)

/** A line that a step may have taken: between two states that it passed one after the other. */
const isTaken = ({ source, target }: DrawnLine, way: ReadonlyArray<string>) =>
  way.some((state, i) => {
    const next = way[i + 1]
    return next !== undefined && holds(state, source) && holds(next, target)
  })

const State = memo(
  ({
    isLit,
    isOnWay,
    state: { description, hasParts, height, id, name, stays, width, x, y }
  }: {
    readonly state: DrawnState
    readonly isLit: boolean
    readonly isOnWay: boolean
  }) => (
    <g
      data-state={id}
      data-transitions={stays.join(" ")}
      className={`state${hasParts ? " parts" : ""}${isLit ? " lit" : ""}${isOnWay ? " on-way" : ""}`}
    >
      <title>{description}</title>
      <rect x={x} y={y} width={width} height={height} rx={8} />
      <text x={hasParts ? x + 14 : x + width / 2} y={hasParts ? y + 28 : y + height / 2 + 7}>
        {name}
      </text>
      {stays.length === 0 ? null : (
        <text className="stays" x={x + width - 8} y={y + 16}>
          ↻{stays.length}
        </text>
      )}
    </g>
  )
)

const Line = memo(
  ({ arrow, isOnWay, line }: { readonly line: DrawnLine; readonly isOnWay: boolean; readonly arrow: string }) => (
    <g data-transitions={line.transitions.join(" ")} className={isOnWay ? "line on-way" : "line"}>
      <title>{line.description}</title>
      <path d={d(line.points)} markerEnd={`url(#${arrow})`} />
      <text x={line.labelAt[0]} y={line.labelAt[1]}>
        {line.label}
      </text>
    </g>
  )
)

const Arrow = ({ id, isOnWay }: { readonly id: string; readonly isOnWay: boolean }) => (
  <marker
    id={id}
    className={isOnWay ? "arrow on-way" : "arrow"}
    viewBox="0 0 8 8"
    refX="7"
    refY="4"
    markerWidth="7"
    markerHeight="7"
    orient="auto-start-reverse"
  >
    <path d="M0 0L8 4L0 8z" />
  </marker>
)

/** Moves the picture within its place, and nothing around it, until the state that is lit is seen. */
const show = (place: HTMLElement | null) => {
  const lit = place?.querySelector(".lit:not(.parts)")?.getBoundingClientRect()
  if (place === null || lit === undefined) return
  const seen = place.getBoundingClientRect()
  if (lit.left < seen.left || lit.right > seen.right)
    place.scrollLeft += (lit.left + lit.right - seen.left - seen.right) / 2
  if (lit.top < seen.top || lit.bottom > seen.bottom)
    place.scrollTop += (lit.top + lit.bottom - seen.top - seen.bottom) / 2
}

/** `way`: the states that the last step passed, the one that it left among them. */
export const Drawing = ({
  drawing: { height, lines, states, width },
  label,
  lit,
  way
}: {
  readonly drawing: Drawn
  readonly label: string
  readonly lit: string | undefined
  readonly way: ReadonlyArray<string>
}) => {
  const place = useRef<HTMLDivElement>(null)
  // Several pictures may stand on one page.
  const id = useId()
  const [arrow, arrowOnWay] = [`${id}arrow`, `${id}arrow-on-way`]
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state is lit
  useEffect(() => show(place.current), [lit])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a picture that is larger than its place is moved by keys
    <div ref={place} className="drawing" tabIndex={0} role="img" aria-label={label}>
      <svg viewBox={`-8 -8 ${width + 16} ${height + 16}`} width={width + 16} height={height + 16} aria-hidden="true">
        <defs>
          <Arrow id={arrow} isOnWay={false} />
          <Arrow id={arrowOnWay} isOnWay={true} />
        </defs>
        {states.map((state) => (
          <State
            key={state.id}
            state={state}
            isLit={lit !== undefined && holds(lit, state.id)}
            isOnWay={way.includes(state.id)}
          />
        ))}
        {lines.map((line) => {
          const isOnWay = isTaken(line, way)
          return (
            <Line key={line.transitions.join(" ")} line={line} isOnWay={isOnWay} arrow={isOnWay ? arrowOnWay : arrow} />
          )
        })}
      </svg>
    </div>
  )
}
