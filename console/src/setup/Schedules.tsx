/** The schedules of an agent: when it is sent a message without anybody asking. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"

const fresh = {
  name: "",
  trigger: { type: "cron", expression: "0 9 * * 1-5", timezone: "UTC" },
  target: { mode: "spawn" },
  message: { content: [{ type: "text", text: "" }] }
}

export const Schedules = ({ agentId }: { readonly agentId: string }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <>
      <Listing
        label="Schedules"
        empty="It has no schedule."
        queryKey={["schedules", agentId]}
        ask={async (query, signal) => {
          const { nextCursor, schedules } = await answerOf(
            troupe.api.GET("/v1/agents/{agentId}/schedules", { params: { path: { agentId }, query }, signal })
          )
          return { rows: schedules, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => (
              <Link to="/agents/$agentId/schedules/$scheduleId" params={{ agentId, scheduleId: id }}>
                {visibleLine(name)}
              </Link>
            )
          },
          { name: "Trigger", cell: ({ trigger }) => trigger.type },
          { name: "State", cell: ({ enabled }) => (enabled ? "enabled" : "disabled") },
          { name: "Next", cell: ({ nextInstants: [next] }) => (next === undefined ? "" : <Time at={next} />) },
          { name: "Last", cell: ({ lastRunAt }) => (lastRunAt === undefined ? "" : <Time at={lastRunAt} />) },
          { name: "Came to", cell: ({ lastStatus }) => lastStatus ?? "" }
        ]}
      />
      <Fold label="New schedule">
        <YamlEditor
          isNew
          label="Schedule, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={fresh}
          save={async (body) => {
            const answer = await troupe.send("POST", `/v1/agents/${encodeURIComponent(agentId)}/schedules`, { body })
            void queries.invalidateQueries({ queryKey: ["schedules"] })
            return answer
          }}
        />
      </Fold>
    </>
  )
}
