/** One agent of the workspace, or all where that is a choice too. */
import { useId } from "react"
import type { Agents } from "./agents.ts"
import { visibleLine } from "./visible.ts"

export const AgentChoice = ({
  all,
  of: { agents, hasMore, isAsking, more },
  onChosen,
  value
}: {
  readonly of: Agents
  /** The words for all of them. */
  readonly all?: string
  /** An id; nothing for all. */
  readonly value: string
  readonly onChosen: (agentId: string) => void
}) => {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>Agent</label>
      <select id={id} value={value} onChange={(event) => onChosen(event.target.value)}>
        {all === undefined ? null : <option value="">{all}</option>}
        {value === "" || agents.some(({ id }) => id === value) ? null : <option value={value}>{value}</option>}
        {agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {visibleLine(name)}
          </option>
        ))}
      </select>
      {hasMore ? (
        <button type="button" className="link" disabled={isAsking} onClick={more}>
          More agents
        </button>
      ) : null}
    </>
  )
}
