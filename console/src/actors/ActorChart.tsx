/** An actor on the chart that it runs by, now and at any past moment, as the server tells of it. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { useLooking } from "../live/looking.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { useSession } from "../session/Session.tsx"
import { ChartView } from "./ChartView.tsx"
import { type Position, useAsked, usePosition } from "./position.ts"
import type { EventLink } from "./Side.tsx"
import { type ActorSeen, type Moment, momentAt, type Steps } from "./steps.ts"
import { useMissingSteps } from "./useMissingSteps.ts"

const lookRestMs = 200
/** Of an actor that is no thread nobody brings news: it is looked at anyway. */
const lookEveryMs = 3_000
/** Before what failed is asked for again. */
const againMs = 5_000

type Place = { readonly pos: number } | { readonly seq: number } | undefined

/** What the server tells of an actor at a place of its log; undefined: now, which `everyMs` asks for again. */
const useSeen = (
  actorId: string,
  place: Place,
  { everyMs, isWanted }: { readonly isWanted: boolean; readonly everyMs?: number | false }
): UseQueryResult<ActorSeen> => {
  const { troupe } = useSession()
  return useQuery({
    queryKey: ["chart", actorId, place ?? "now"],
    queryFn: ({ signal }) =>
      answerOf(
        troupe.api.GET("/v1/actors/{actorId}/chart", { params: { path: { actorId }, query: place ?? {} }, signal })
      ),
    enabled: isWanted,
    // The past stays as it was; of a present that could not be told there may be no more news.
    ...(place === undefined
      ? {
          refetchInterval: ({ state }: { readonly state: { readonly error: Error | null } }) =>
            state.error === null ? (everyMs ?? false) : againMs
        }
      : { staleTime: Number.POSITIVE_INFINITY })
  })
}

const momentOf = ({ context, doing, possible, state, step }: ActorSeen): Moment => ({
  state,
  step,
  details: { context, doing, ...(possible === undefined ? {} : { possible }) }
})

const eventLink =
  (threadId: string): EventLink =>
  (seq, words) => (
    <Link to="/threads/$threadId" params={{ threadId }} search={{ view: "events", seq }}>
      {seq} {words}
    </Link>
  )

/** The chart of an actor that there is, at a position of its log. */
const Followed = ({
  actorId,
  given,
  now,
  onPos,
  trouble
}: {
  readonly actorId: string
  readonly given: Position
  readonly now: ActorSeen
  readonly onPos: (pos: Position) => void
  readonly trouble: ReactNode
}) => {
  const { actor, chart } = now
  const [steps, setSteps] = useState<Steps>([])
  const [pos, go] = usePosition(given, onPos)
  const told = pos === undefined ? undefined : momentAt(steps, pos)
  const asked = useAsked(pos, told !== undefined)
  const then = useSeen(actorId, asked === undefined ? undefined : { pos: asked }, { isWanted: asked !== undefined })
  const isAnswered = pos === asked
  const seen = pos === undefined ? now : isAnswered ? then.data : undefined
  const failure = pos !== undefined && isAnswered ? then.error : null
  // Where nothing is known yet, the moment is asked for first: one request shows it.
  const around = seen === undefined && told === undefined ? undefined : (pos ?? actor.pos)
  const missing = useMissingSteps({ actorId, at: around, end: actor.pos, steps, onSteps: setSteps })
  const path = `/v1/actors/${actorId}/chart${pos === undefined ? "" : `?pos=${pos}`}`
  return (
    <ChartView
      chart={chart}
      steps={steps}
      end={actor.pos}
      pos={pos}
      moment={seen === undefined ? told : momentOf(seen)}
      isAsking={seen === undefined && failure === null}
      last="Live"
      onPos={go}
      link={actor.kind === "thread" ? eventLink(actorId) : undefined}
      trouble={
        <>
          {trouble}
          {failure === null ? null : <Failure failure={failure} retry={() => void then.refetch()} />}
          {missing.failure === undefined ? null : <Failure failure={missing.failure} retry={missing.retry} />}
        </>
      }
    >
      <span className="quiet">
        {actor.live ? `A node lives with it${actor.node === undefined ? "" : `: ${actor.node}`}. ` : ""}
        <Copy label="copy as curl" text={() => curlOf("GET", path)} />
      </span>
    </ChartView>
  )
}

const Found = ({ actorId, news, onPos, pos, seq }: ActorChartProps) => {
  const now = useSeen(actorId, undefined, { isWanted: true, everyMs: news === undefined && lookEveryMs })
  const isNamed = pos === undefined && seq !== undefined
  const named = useSeen(actorId, isNamed ? { seq } : undefined, { isWanted: isNamed })
  const { refetch } = now
  useLooking(news, refetch, lookRestMs)
  if (now.data === undefined)
    return now.error === null ? (
      <p className="quiet">Looking…</p>
    ) : (
      <Failure failure={now.error} retry={() => void refetch()} />
    )
  if (isNamed && named.isPending) return <p className="quiet">Looking…</p>
  const failures = [now.error, ...(isNamed ? [named.error] : [])].filter((failure) => failure !== null)
  return (
    <Followed
      actorId={actorId}
      given={isNamed && named.data !== undefined ? (named.data.step?.pos ?? 0) : pos}
      now={now.data}
      onPos={onPos}
      trouble={failures.map((failure) => <Failure key={failure.message} failure={failure} />)}
    />
  )
}

interface ActorChartProps {
  readonly actorId: string
  /** Undefined follows it as it goes on. */
  readonly pos: Position
  /** An event: the position of the step that wrote it, where no position is given. */
  readonly seq?: number | undefined
  readonly onPos: (pos: Position) => void
  /** Changes when there is something new to see; absent where nobody tells. */
  readonly news?: unknown
}

/** Nothing of one actor is shown for another. */
export const ActorChart = (props: ActorChartProps) => <Found key={props.actorId} {...props} />
