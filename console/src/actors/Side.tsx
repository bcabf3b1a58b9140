/** What is said of a moment beside its picture: what goes on there, how it got there, what may come next. */
import type { ReactNode } from "react"
import { Json } from "../parts/Json.tsx"
import { Time } from "../parts/Time.tsx"
import { Calls, Chains, chainsOf, splitContext } from "./Calls.tsx"
import type { ActorStep, Details, Moment } from "./steps.ts"

/** How an event of the log is named and reached. */
export type EventLink = (seq: number, words: string) => ReactNode

const words = (of: Readonly<Record<string, unknown>>) =>
  Object.entries(of)
    .filter(([name]) => name !== "type" && name !== "since")
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(" · ")

const Doing = ({ doing }: Pick<Details, "doing">) => (
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

const Possible = ({ possible }: Required<Pick<Details, "possible">>) => (
  <section aria-label="What may come next">
    <h2>What may come next</h2>
    <ul>
      {possible.map(({ event, refusedBy, targets }) => (
        <li key={event}>
          <code>{event}</code>{" "}
          {refusedBy !== undefined ? (
            <span className="quiet">
              refused by <code>{refusedBy}</code>
            </span>
          ) : targets.length === 0 ? (
            <span className="quiet">stays</span>
          ) : (
            <>
              → <code>{targets.join(", ")}</code>
            </>
          )}
        </li>
      ))}
    </ul>
  </section>
)

const plain: EventLink = (seq, text) => `${seq} ${text}`

const Step = ({ link, step }: { readonly step: ActorStep | undefined; readonly link: EventLink }) => (
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
            <li key={i}>{seq === undefined ? <span className="quiet">{type}</span> : link(seq, type)}</li>
          ))}
        </ol>
      </>
    )}
  </section>
)

const Beside = ({ details }: { readonly details: Details }) => {
  const { calls, rest } = splitContext(details)
  return (
    <>
      <Chains chains={chainsOf(details)} />
      <Calls calls={calls} />
      {details.possible === undefined ? null : <Possible possible={details.possible} />}
      <details>
        <summary>What it knew</summary>
        <Json label="What it knew" value={rest} />
      </details>
    </>
  )
}

export const Side = ({
  children,
  isAsking,
  isThen,
  link = plain,
  moment
}: {
  readonly moment: Moment | undefined
  /** More of it is on its way. */
  readonly isAsking: boolean
  /** It is a moment of the past. */
  readonly isThen: boolean
  readonly link: EventLink | undefined
  readonly children: ReactNode
}) => (
  <div className="chart-side" aria-busy={isAsking}>
    {moment === undefined ? (
      <p className="quiet">{isAsking ? "Looking…" : "Nobody knows where it stood."}</p>
    ) : (
      <>
        <p>
          In <code className="state-name">{moment.state}</code>
          {isThen ? " then" : ""}. {children}
        </p>
        {moment.details === undefined ? (
          isAsking ? (
            <p className="quiet">Looking at what went on…</p>
          ) : null
        ) : (
          <Doing doing={moment.details.doing} />
        )}
        <Step step={moment.step} link={link} />
        {moment.details === undefined ? null : <Beside details={moment.details} />}
      </>
    )}
  </div>
)
