/** The calls of a turn and the chains of hooks, each on the chart of its own. */
import { useState } from "react"
import drawings from "virtual:chart-drawings"
import { Drawing } from "./Drawing.tsx"
import type { Details } from "./steps.ts"

export interface Chain {
  readonly state: string
  readonly point: string
  /** Undefined where it is not told. */
  readonly index: number | undefined
}

export interface Call {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly chain: Chain | undefined
}

type Fields = Readonly<Record<string, unknown>>

const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {}
const text = (value: unknown) => (typeof value === "string" ? value : undefined)

const chainOf = (value: unknown): Chain | undefined => {
  const { index, point, state } = fields(value)
  const stands = text(state)
  return stands === undefined
    ? undefined
    : { state: stands, point: text(point) ?? "", index: typeof index === "number" ? index : undefined }
}

const callOf = (value: unknown): ReadonlyArray<Call> => {
  const { hook, state, toolCallId, toolName } = fields(value)
  const [id, stands] = [text(toolCallId), text(state)]
  return id === undefined || stands === undefined
    ? []
    : [{ id, name: text(toolName) ?? id, state: stands, chain: chainOf(hook) }]
}

/** The calls that a context tells of, and what is left of it. */
export const splitContext = ({ context }: Pick<Details, "context">) => {
  const { turn, ...others } = fields(context)
  if (turn === undefined) return { calls: [], rest: others }
  const { calls, ...turnRest } = fields(turn)
  return { calls: Array.isArray(calls) ? calls.flatMap(callOf) : [], rest: { turn: turnRest, ...others } }
}

/** The chain about the turn's message or a response, by what goes on: the context tells of those of calls alone. */
export const chainsOf = ({ doing }: Pick<Details, "doing">): ReadonlyArray<Chain> =>
  doing.flatMap(({ hookIndex, point, toolCallId, type }) => {
    if (toolCallId !== undefined) return []
    if (type === "askHook") return [{ state: "judging", point: point ?? "", index: hookIndex }]
    // A wait that is about no call is a hook's.
    return type === "wait" ? [{ state: "asking", point: "", index: undefined }] : []
  })

const placeOf = ({ index, point }: Chain) =>
  [...(point === "" ? [] : [point]), ...(index === undefined ? [] : [`hook ${index}`])].join(", ")

const Chart = ({ kind, name, state }: { readonly kind: string; readonly name: string; readonly state: string }) => {
  const drawing = drawings[kind]
  return drawing === undefined ? (
    <p className="quiet">This console has no drawing of {kind}.</p>
  ) : (
    <Drawing drawing={drawing} lit={state} way={[]} label={`The chart of ${name}: in ${state}`} />
  )
}

/** Drawn while it is open: a turn may have many. */
const CallChart = ({
  call: { chain, id, name, state },
  isFirst
}: {
  readonly call: Call
  readonly isFirst: boolean
}) => {
  const [isOpen, setOpen] = useState(isFirst)
  const place = chain === undefined ? "" : placeOf(chain)
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <strong>{name}</strong> <code>{state}</code> <span className="quiet">{place === "" ? id : place}</span>
        </summary>
        {isOpen ? <Chart kind="call" name={`call ${name}`} state={state} /> : null}
        {isOpen && chain !== undefined ? (
          <>
            <p className="quiet">
              Its chain of hooks, at <code>{place}</code>:
            </p>
            <Chart kind="hooks" name={`the hooks of call ${name}`} state={chain.state} />
          </>
        ) : null}
      </details>
    </li>
  )
}

export const Calls = ({ calls }: { readonly calls: ReadonlyArray<Call> }) =>
  calls.length === 0 ? null : (
    <section aria-label="Calls">
      <h2>Calls</h2>
      <ul className="calls">
        {calls.map((call) => (
          <CallChart key={call.id} call={call} isFirst={call === calls.find(({ state }) => state !== "settled")} />
        ))}
      </ul>
    </section>
  )

export const Chains = ({ chains }: { readonly chains: ReadonlyArray<Chain> }) =>
  chains.map((chain) => (
    <section key={placeOf(chain)} aria-label="Hooks of the turn">
      <h2>Hooks of the turn</h2>
      <p className="quiet">
        <code>{chain.state}</code> {placeOf(chain)}
      </p>
      <div className="calls">
        <Chart kind="hooks" name="the hooks of the turn" state={chain.state} />
      </div>
    </section>
  ))
