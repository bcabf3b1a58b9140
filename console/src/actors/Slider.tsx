/** Goes through what an actor did: by hand, by keys, or as it went on. */
import { type KeyboardEvent, useEffect, useState } from "react"
import { Time } from "../parts/Time.tsx"
import type { Position } from "./position.ts"
import { type ActorStep, type Moment, stepAt, type Steps } from "./steps.ts"

const speeds = [1, 10, 100] as const
/** Milliseconds of a step while it plays, at most and at least. */
const pauses = { most: 1_500, least: 30 }

/** Milliseconds until the next step, as they went by then. */
const pauseTo = (from: ActorStep | undefined, to: ActorStep, speed: number) => {
  const took = from === undefined ? 0 : Date.parse(to.at) - Date.parse(from.at)
  return Math.min(pauses.most, Math.max(pauses.least, took / speed))
}

export interface SliderProps {
  readonly steps: Steps
  /** The last position of the log. */
  readonly end: number
  /** Undefined: at the end, whatever it is. */
  readonly pos: Position
  /** Undefined where it is not known, or not yet. */
  readonly moment: Moment | undefined
  /** What is at the end: an actor that lives, or the end of a file. */
  readonly last: "Live" | "End"
  readonly onPos: (pos: Position) => void
}

/** Where the steps on both sides are. Of a place whose own step is not known, they are a position away. */
const ways = ({ end, moment, pos, steps }: SliderProps) => {
  const at = pos ?? end
  const here = moment?.step
  const next = (here?.pos ?? at) + 1
  const before = at > end ? end : (here?.fromPos ?? at) - 1
  return {
    back: at > 0 ? Math.max(0, before) : undefined,
    next: stepAt(steps, next),
    // The end is not a place to stay at: the actor goes on.
    forth: next > end ? undefined : (stepAt(steps, next)?.pos ?? next)
  }
}

/** Plays from where it is up to the end. Where a step is not here yet, it waits for it. */
const usePlaying = (props: SliderProps) => {
  const { end, moment, onPos, pos } = props
  const [speed, setSpeed] = useState<number>()
  const { forth, next } = ways(props)
  const from = moment?.step
  const isAtEnd = pos !== undefined && (pos >= end || (moment !== undefined && forth === undefined))
  useEffect(() => {
    if (speed === undefined || pos === undefined) return
    if (isAtEnd) {
      setSpeed(undefined)
      return onPos(undefined)
    }
    if (next === undefined) return
    const timer = setTimeout(() => onPos(next.pos), pauseTo(from, next, speed))
    return () => clearTimeout(timer)
  }, [speed, pos, isAtEnd, next, from, onPos])
  return [speed, setSpeed] as const
}

const Place = ({ end, last, moment, pos }: SliderProps) => (
  <output>
    {pos === undefined ? last.toLowerCase() : `${pos} of ${end}`}
    {moment?.step === undefined ? null : (
      <>
        {" "}
        · <Time at={moment.step.at} />
      </>
    )}
  </output>
)

/** For who does not see it. */
const words = ({ end, moment, pos }: SliderProps) => {
  const state = moment === undefined ? "not known yet" : `in ${moment.state}`
  if (pos === undefined) return `now, ${state}`
  return `position ${pos} of ${end}: ${moment === undefined ? "" : `${moment.step?.cause ?? "birth"}, `}${state}`
}

export const Slider = (props: SliderProps) => {
  const { end, last, onPos, pos, steps } = props
  const [speed, setSpeed] = usePlaying(props)
  const { back, forth } = ways(props)
  const at = Math.min(pos ?? end, end)
  const leap = Math.max(1, Math.round(end / 10))
  /** By hand: where it goes is no longer what is played. */
  const go = (to: Position) => {
    setSpeed(undefined)
    onPos(to !== undefined && to >= end ? undefined : to)
  }
  const onKey = (event: KeyboardEvent) => {
    // A range's own keys go by one: what there is to see goes by step.
    const { key } = event
    if (key === "ArrowLeft" || key === "ArrowDown") go(back ?? 0)
    else if (key === "ArrowRight" || key === "ArrowUp") go(forth)
    else if (key === "PageDown") go(Math.max(0, Math.min(back ?? 0, at - leap)))
    else if (key === "PageUp") go(forth === undefined ? undefined : Math.max(forth, at + leap))
    else if (key === "End") go(undefined)
    else if (key === "Home") go(0)
    else return
    event.preventDefault()
  }
  return (
    <div className="slider">
      <input
        type="range"
        aria-label="Position in the log"
        aria-valuetext={words(props)}
        min={0}
        max={end}
        value={at}
        onKeyDown={onKey}
        onChange={({ target }) => {
          const to = Number(target.value)
          go(stepAt(steps, to)?.pos ?? to)
        }}
      />
      <Place {...props} />
      <div className="buttons">
        <button type="button" disabled={back === undefined} onClick={() => go(back)}>
          ← Step
        </button>
        <button type="button" disabled={pos === undefined} onClick={() => go(forth)}>
          Step →
        </button>
        {speeds.map((times) => (
          <button
            key={times}
            type="button"
            aria-pressed={speed === times}
            onClick={() => {
              if (speed === times) return setSpeed(undefined)
              if (pos === undefined) onPos(0)
              setSpeed(times)
            }}
          >
            Play ×{times}
          </button>
        ))}
        <button type="button" aria-pressed={pos === undefined} onClick={() => go(undefined)}>
          {last}
        </button>
      </div>
    </div>
  )
}
