/** One schedule: its next instants, its runs, and its configuration. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Listing } from "../parts/Listing.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/agents/$agentId/schedules/$scheduleId")
const fields = [
  "name",
  "trigger",
  "target",
  "message",
  "model",
  "submitMode",
  "overlap",
  "catchUpSeconds",
  "jitterSeconds",
  "maxCost",
  "identity",
  "endAt",
  "enabled"
]

/** A run begins by itself, and no stream tells of it. */
const everyMs = 3_000

const Runs = (path: { readonly agentId: string; readonly scheduleId: string }) => {
  const { troupe } = useSession()
  return (
    <Listing
      label="Runs"
      empty="It has not run within the days that are kept."
      everyMs={everyMs}
      queryKey={["schedules", "runs", path.scheduleId]}
      ask={async (query, signal) => {
        const { nextCursor, runs } = await answerOf(
          troupe.api.GET("/v1/agents/{agentId}/schedules/{scheduleId}/runs", { params: { path, query }, signal })
        )
        return { rows: runs, nextCursor }
      }}
      keyOf={({ id }) => id}
      columns={[
        { name: "Instant", cell: ({ scheduledAt }) => <Time at={scheduledAt} /> },
        { name: "By", cell: ({ by }) => (by === "manual" ? "hand" : by) },
        { name: "State", cell: ({ count, status }) => (count === undefined ? status : `${status} (${count})`) },
        { name: "Reason", cell: ({ reason }) => visibleLine(reason ?? "") },
        {
          name: "Thread",
          cell: ({ threadId }) =>
            threadId === undefined ? null : (
              <Link to="/threads/$threadId" params={{ threadId }}>
                {threadId}
              </Link>
            )
        }
      ]}
    />
  )
}

export const SchedulePage = () => {
  const { agentId, scheduleId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `/v1/agents/${encodeURIComponent(agentId)}/schedules/${encodeURIComponent(scheduleId)}`
  const found = useQuery({
    queryKey: ["schedules", "one", scheduleId],
    queryFn: ({ signal }) =>
      taggedOf(
        troupe.api.GET("/v1/agents/{agentId}/schedules/{scheduleId}", {
          params: { path: { agentId, scheduleId } },
          signal
        })
      )
  })
  if (found.data === undefined) return <NotYet title="Schedule" failure={found.error} retry={found.refetch} />
  const {
    body: { schedule },
    etag
  } = found.data
  const before = only(schedule, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["schedules"] })
  return (
    <Page title={schedule.name} path={path}>
      <p>
        <Link to="/actors/$actorId" params={{ actorId: schedule.id }}>
          On its chart
        </Link>
      </p>
      <Fields
        of={{
          Id: <code>{schedule.id}</code>,
          Agent: (
            <Link to="/agents/$agentId" params={{ agentId }}>
              its agent
            </Link>
          ),
          State: schedule.enabled ? "enabled" : "disabled",
          Reason: visibleLine(schedule.disabledReason ?? ""),
          "Next instants": schedule.nextInstants.length === 0 ? "none" : schedule.nextInstants.join(", "),
          "Made by": `${schedule.createdBy.type} ${visibleLine(schedule.createdBy.identity ?? schedule.createdBy.id)}`,
          Changed: <Time at={schedule.updatedAt} />
        }}
      />
      <Act label="Run it now" scope="run" act={() => troupe.send("POST", `${path}/run`)} onDone={again} />
      <h2>Runs</h2>
      <Runs agentId={agentId} scheduleId={scheduleId} />
      <h2>Configuration</h2>
      <YamlEditor
        label="Schedule, as YAML"
        saveLabel="Save"
        scope="write"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again, whole: ["target"] })}
      />
      <Act
        label="Delete"
        sure="Delete it for good"
        scope="write"
        act={() => troupe.send("DELETE", path)}
        onDone={() => {
          void queries.invalidateQueries({ queryKey: ["schedules", agentId] })
          return navigate({ to: "/agents/$agentId", params: { agentId } })
        }}
      />
    </Page>
  )
}
