/**
 * An actor on its chart at one moment: the state lit, the way of its last step drawn, and beside it what is known of
 * the moment. It asks nobody: whoever shows it has the steps and the moment, from a server or from a file.
 */
import { type ReactNode, useCallback, useState } from "react"
import drawings from "virtual:chart-drawings"
import "./chart.css"
import { Drawing } from "./Drawing.tsx"
import type { Position } from "./position.ts"
import { type EventLink, Side } from "./Side.tsx"
import { Slider, type SliderProps } from "./Slider.tsx"
import { momentAt, type Steps } from "./steps.ts"

export interface Chart {
  readonly kind: string
  readonly version: string
}

export interface ChartViewProps extends SliderProps {
  readonly chart: Chart
  /** The moment, or more of it, is on its way. */
  readonly isAsking: boolean
  /** How an event of the log is reached. Plain words when undefined. */
  readonly link?: EventLink | undefined
  /** Said above the picture: what did not work. */
  readonly trouble?: ReactNode
  /** Said beside it. */
  readonly children?: ReactNode
}

const Picture = ({ chart, moment }: Pick<ChartViewProps, "chart" | "moment">) => {
  const drawing = drawings[chart.kind]
  if (drawing === undefined) return <p className="quiet">This console has no drawing of {chart.kind}.</p>
  const step = moment?.step
  return (
    <div className="picture">
      {drawing.version === chart.version ? null : (
        <p className="quiet">
          Drawn as this console knows the chart of {chart.kind}; the actor runs by another version.
        </p>
      )}
      <Drawing
        drawing={drawing}
        lit={moment?.state}
        way={step === undefined ? [] : [step.from, ...step.path]}
        label={`The chart of ${chart.kind}: ${moment === undefined ? "not known yet" : `in ${moment.state}`}`}
      />
    </div>
  )
}

export const ChartView = ({ chart, children, isAsking, link, trouble, ...slider }: ChartViewProps) => (
  <section
    className="chart"
    aria-label="Chart"
    data-pos={slider.moment === undefined ? undefined : (slider.pos ?? slider.end)}
  >
    <Slider {...slider} />
    {trouble}
    <div className="chart-body">
      <Picture chart={chart} moment={slider.moment} />
      <Side moment={slider.moment} isAsking={isAsking} isThen={slider.pos !== undefined} link={link}>
        {children}
      </Side>
    </div>
  </section>
)

/** A log that is here whole, such as a file's, on its chart. */
export const StepsChart = ({
  chart,
  link,
  steps
}: {
  readonly chart: Chart
  readonly steps: Steps
  readonly link?: EventLink
}) => {
  const [pos, setPos] = useState<Position>()
  const onPos = useCallback((to: Position) => setPos(to), [])
  const end = steps.at(-1)?.pos ?? 0
  return (
    <ChartView
      chart={chart}
      steps={steps}
      end={end}
      pos={pos}
      moment={momentAt(steps, pos ?? end)}
      isAsking={false}
      last="End"
      onPos={onPos}
      link={link}
    />
  )
}
