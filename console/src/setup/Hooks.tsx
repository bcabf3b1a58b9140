/** What hooks have decided, and a dry run of one. */
import { Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Json } from "../parts/Json.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Page } from "../parts/Page.tsx"
import { duration } from "../parts/duration.ts"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"

const points = ["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"] as const
const decisions = ["allow", "deny", "ask", "defer"] as const

const sample = {
  hook: {
    name: "example",
    point: "before_tool_call",
    processor: { type: "url", url: "https://hooks.example.com/decide" }
  },
  data: { point: "before_tool_call", toolCallId: "call_1", toolName: "thread.rename", toolInput: { title: "Named" } }
}

const Trial = () => {
  const { troupe } = useSession()
  const [outcome, setOutcome] = useState<unknown>()
  return (
    <>
      <YamlEditor
        isNew
        label="Hook and sample, as YAML"
        saveLabel="Try the hook"
        done="The hook was asked."
        scope="write"
        value={sample}
        save={async (body) => {
          setOutcome(undefined)
          setOutcome(await troupe.send("POST", "/v1/hooks/test", { body }))
        }}
      />
      {outcome === undefined ? null : <Json label="What it came to" value={written(outcome)} />}
    </>
  )
}

export const Hooks = () => {
  const { troupe } = useSession()
  const ids = { point: useId(), decision: useId() }
  const [point, setPoint] = useState<(typeof points)[number]>()
  const [decision, setDecision] = useState<(typeof decisions)[number]>()
  const filter = { ...(point === undefined ? {} : { point }), ...(decision === undefined ? {} : { decision }) }
  return (
    <Page title="Hooks" path={`/v1/hooks/decisions?${new URLSearchParams(filter)}`}>
      <p className="quiet">Hooks are part of profiles. Here is what they have decided, over all threads.</p>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor={ids.point}>Point</label>
        <select
          id={ids.point}
          value={point ?? ""}
          onChange={(event) => setPoint(points.find((each) => each === event.target.value))}
        >
          <option value="">all</option>
          {points.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <label htmlFor={ids.decision}>Decision</label>
        <select
          id={ids.decision}
          value={decision ?? ""}
          onChange={(event) => setDecision(decisions.find((each) => each === event.target.value))}
        >
          <option value="">all</option>
          {decisions.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </form>
      <Listing
        label="Decisions"
        empty="No hook has decided anything yet."
        queryKey={["hookDecisions", filter]}
        ask={async (query, signal) => {
          const { decisions: rows, nextCursor } = await answerOf(
            troupe.api.GET("/v1/hooks/decisions", { params: { query: { ...query, ...filter } }, signal })
          )
          return { rows, nextCursor }
        }}
        keyOf={({ seq, threadId }) => `${threadId} ${seq}`}
        columns={[
          { name: "When", cell: ({ occurredAt }) => <Time at={occurredAt} /> },
          { name: "Point", cell: ({ point }) => point },
          {
            name: "Decision",
            cell: ({ decision, enforced, rewrote }) =>
              `${decision}${rewrote === true ? ", rewritten" : ""}${enforced ? "" : ", not enforced"}`
          },
          { name: "Reason", cell: ({ reason }) => visibleLine(reason ?? "") },
          { name: "By", cell: ({ processor }) => processor },
          { name: "Took", cell: ({ latencyMs }) => duration(latencyMs) },
          {
            name: "Event",
            cell: ({ seq, threadId }) => (
              <Link to="/threads/$threadId" params={{ threadId }} search={{ view: "events", seq }}>
                #{seq}
              </Link>
            )
          }
        ]}
      />
      <h2>Dry run</h2>
      <p className="quiet">
        It asks the hook as a turn would, and changes nothing: a url gets a real delivery, an agent a real question.
      </p>
      <Trial />
    </Page>
  )
}
