/**
 * An actor on the chart that it runs by, now and at any past moment: the state lit, the way of its last step drawn, and
 * beside it what goes on there, how it got there, and what may come next.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useState } from "react"
import drawings from "virtual:chart-drawings"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Failure } from "../parts/Failure.tsx"
import { Json } from "../parts/Json.tsx"
import { Time } from "../parts/Time.tsx"
import { useSession } from "../session/Session.tsx"
import { Drawing } from "./Drawing.tsx"
import { type ActorStep, stepAt, useSteps } from "./steps.ts"

type Seen = components["schemas"]["ActorChart"]

const speeds = [1, 10, 100] as const
/** Of a step while it plays, at most and at least. */
const pauses = { most: 1_500, least: 30 }

/** Milliseconds until the next step, as they went by then. */
const pauseTo = (from: ActorStep | undefined, to: ActorStep, speed: number) => {
  const took = from === undefined ? 0 : Date.parse(to.at) - Date.parse(from.at)
  return Math.min(pauses.most, Math.max(pauses.least, took / speed))
}

const words = (of: Readonly<Record<string, unknown>>) =>
  Object.entries(of)
    .filter(([name]) => name !== "type" && name !== "since")
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(" · ")

const Doing = ({ doing }: Pick<Seen, "doing">) => (
  <section aria-label="What goes on">
    <h2>What goes on</h2>
    {doing.length === 0 ? <p className="quiet">Nothing.</p> : null}
    <ul>
      {doing.map((each) => (
        <li key={JSON.stringify(each)}>
          <strong>{each.type}</strong> since <Time at={each.since} /> <span className="quiet">{words(each)}</span>
        </li>
      ))}
    </ul>
  </section>
)

const Possible = ({ possible }: { readonly possible: NonNullable<Seen["possible"]> }) => (
  <section aria-label="What may come next">
    <h2>What may come next</h2>
    <ul>
      {possible.map(({ event, refusedBy, targets }) => (
        <li key={event}>
          <code>{event}</code>{" "}
          {refusedBy === undefined ? (
            targets.length === 0 ? (
              <span className="quiet">stays</span>
            ) : (
              <>
                → <code>{targets.join(", ")}</code>
              </>
            )
          ) : (
            <span className="quiet">
              refused by <code>{refusedBy}</code>
            </span>
          )}
        </li>
      ))}
    </ul>
  </section>
)

const Step = ({ step, threadId }: { readonly step: ActorStep | undefined; readonly threadId: string | undefined }) => (
  <section aria-label="How it got there">
    <h2>How it got there</h2>
    {step === undefined ? (
      <p className="quiet">It was born there.</p>
    ) : (
      <>
        <p>
          <strong>{step.cause}</strong> at <Time at={step.at} />: <code>{step.from}</code>
          {step.path.map((state, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a way may pass a state twice
            <span key={i}>
              {" "}
              → <code>{state}</code>
            </span>
          ))}
        </p>
        <ol>
          {step.facts.map(({ seq, type }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: facts have no other name, and their order stays
            <li key={i}>
              {seq === undefined || threadId === undefined ? (
                <span className="quiet">{type}</span>
              ) : (
                <Link to="/threads/$threadId" params={{ threadId }} search={{ view: "events", seq }}>
                  {seq} {type}
                </Link>
              )}
            </li>
          ))}
        </ol>
      </>
    )}
  </section>
)

/** `pos`: undefined follows it as it goes on. `news` changes when there is something new to see. */
export const ActorChart = ({
  actorId,
  news,
  onPos,
  pos
}: {
  readonly actorId: string
  readonly pos: number | undefined
  readonly onPos: (pos: number | undefined) => void
  readonly news: unknown
}) => {
  const { troupe } = useSession()
  const [speed, setSpeed] = useState<number>()
  const path = { actorId }
  const ask = (at: number | undefined) => ({
    queryKey: ["chart", actorId, at ?? "now"],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      answerOf(
        troupe.api.GET("/v1/actors/{actorId}/chart", {
          params: { path, query: at === undefined ? {} : { pos: at } },
          signal
        })
      )
  })
  const now = useQuery(ask(undefined))
  const then = useQuery({
    ...ask(pos),
    enabled: pos !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData
  })
  const { refetch } = now
  // biome-ignore lint/correctness/useExhaustiveDependencies: every piece of news is a reason to look again
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), 100)
    return () => clearTimeout(timer)
  }, [news, refetch])
  const end = now.data?.actor.pos ?? 0
  const { failure, steps } = useSteps(actorId, end)
  const at = pos ?? end
  const index = steps.findLastIndex((step) => step.pos <= at)
  const next = steps[index + 1]
  const isPlaying = speed !== undefined && pos !== undefined

  useEffect(() => {
    if (!isPlaying) return
    if (next === undefined) {
      setSpeed(undefined)
      return onPos(undefined)
    }
    const timer = setTimeout(() => onPos(next.pos), pauseTo(steps[index], next, speed))
    return () => clearTimeout(timer)
  }, [isPlaying, next, index, steps, speed, onPos])

  if (now.data === undefined)
    return now.error === null ? (
      <p className="quiet">Looking…</p>
    ) : (
      <Failure failure={now.error} retry={() => void refetch()} />
    )
  const { actor, chart } = now.data
  const drawing = drawings[chart.kind]
  const seen: Seen = pos === undefined ? now.data : (then.data ?? now.data)
  const known = pos === undefined ? undefined : stepAt(steps, pos)
  const step = pos === undefined ? (now.data.step ?? undefined) : pos === 0 ? undefined : (known ?? seen.step)
  const state = pos === undefined ? seen.state : (step?.to ?? seen.state)
  const go = (to: ActorStep | undefined, fallback: number | undefined) => onPos(to === undefined ? fallback : to.pos)
  const onKey = (event: KeyboardEvent) => {
    // A range's own keys go by one: what there is to see goes by step.
    if (event.key === "ArrowLeft") go(steps[index - 1], 0)
    else if (event.key === "ArrowRight") go(next, undefined)
    else if (event.key === "End") onPos(undefined)
    else if (event.key === "Home") onPos(0)
    else return
    event.preventDefault()
  }

  return (
    <section className="chart" aria-label="Chart">
      <div className="slider">
        <input
          type="range"
          aria-label="Position in the log"
          aria-valuetext={
            pos === undefined ? `now, in ${state}` : `position ${at} of ${end}: ${step?.cause ?? "birth"}, in ${state}`
          }
          min={0}
          max={end}
          value={at}
          onKeyDown={onKey}
          onChange={({ target }) => {
            const to = Number(target.value)
            setSpeed(undefined)
            onPos(to >= end ? undefined : (stepAt(steps, to)?.pos ?? 0))
          }}
        />
        <output>
          {pos === undefined ? "live" : `${at} of ${end}`} · step {index + 1} of {steps.length}
          {step === undefined ? null : (
            <>
              {" "}
              · <Time at={step.at} />
            </>
          )}
        </output>
        <div className="buttons">
          <button type="button" disabled={index < 0} onClick={() => go(steps[index - 1], 0)}>
            ← Step
          </button>
          <button type="button" disabled={pos === undefined} onClick={() => go(next, undefined)}>
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
          <button type="button" aria-pressed={pos === undefined} onClick={() => onPos(undefined)}>
            Live
          </button>
        </div>
      </div>
      {failure === null ? null : <Failure failure={failure} />}
      {then.error === null || pos === undefined ? null : <Failure failure={then.error} />}
      <div className="chart-body">
        {drawing === undefined ? (
          <p className="quiet">This console has no drawing of {chart.kind}.</p>
        ) : (
          <Drawing
            drawing={drawing}
            lit={state}
            way={step === undefined ? [] : [step.from, ...step.path]}
            label={`The chart of ${chart.kind}: in ${state}`}
          />
        )}
        <div className="chart-side">
          <p>
            In <code className="state-name">{state}</code>
            {pos === undefined ? "" : " then"}.{" "}
            <span className="quiet">{actor.live ? "A node lives with it." : ""}</span>
          </p>
          <Doing doing={seen.doing} />
          <Step step={step} threadId={actor.kind === "thread" ? actor.id : undefined} />
          {pos === undefined && now.data.possible !== undefined ? <Possible possible={now.data.possible} /> : null}
          <details>
            <summary>What it knew</summary>
            <Json label="What it knew" value={seen.context} />
          </details>
        </div>
      </div>
    </section>
  )
}
