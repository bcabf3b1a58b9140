/** One agent: what it is, its memory, its images, and the way to its threads. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Act } from "../parts/Act.tsx"
import { Fields } from "../parts/Fields.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { Images } from "./Images.tsx"
import { AgentMemory } from "./Memory.tsx"
import { Schedules } from "./Schedules.tsx"
import { AgentSubscriptions } from "./Subscriptions.tsx"
import { Parked, patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/agents/$agentId")
const fields = ["name", "description", "profileId", "profileVersion", "identity", "avatar", "tags", "budget"]

export const AgentPage = () => {
  const { agentId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const path = `/v1/agents/${encodeURIComponent(agentId)}`
  const found = useQuery({
    queryKey: ["agents", "one", agentId],
    queryFn: async ({ signal }) => {
      const { body, etag } = await taggedOf(
        troupe.api.GET("/v1/agents/{agentId}", { params: { path: { agentId } }, signal })
      )
      if ("operation" in body) throw new Parked()
      return { agent: body.agent, etag }
    }
  })
  if (found.data === undefined) return <NotYet title="Agent" failure={found.error} retry={found.refetch} />
  const { agent, etag } = found.data
  const again = () => queries.invalidateQueries({ queryKey: ["agents"] })
  const before = only(agent, fields)
  return (
    <Page title={agent.name} path={path}>
      {agent.description === undefined ? null : <p className="words">{visible(agent.description)}</p>}
      <Fields
        of={{
          Id: <code>{agent.id}</code>,
          Profile: (
            <Link to="/profiles/$profileId" params={{ profileId: agent.profileId }}>
              {agent.profileVersion === undefined ? "its latest version" : `version ${agent.profileVersion}`}
            </Link>
          ),
          Identity: visibleLine(agent.identity ?? ""),
          Budget: agent.budget === undefined ? undefined : `$${agent.budget.limit} (${agent.budget.window})`,
          Tags: visibleLine(agent.tags.join(", ")),
          Created: <Time at={agent.createdAt} />,
          Changed: <Time at={agent.updatedAt} />,
          Archived: agent.archivedAt === undefined ? undefined : <Time at={agent.archivedAt} />,
          Threads: (
            <Link to="/threads" search={{ agentId }}>
              its threads
            </Link>
          )
        }}
      />
      <h2>Configuration</h2>
      <YamlEditor
        label="Agent, as YAML"
        saveLabel="Save"
        scope="write"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again })}
      />
      <Act
        label="Archive"
        sure="Archive it for good"
        scope="write"
        disabled={agent.archivedAt !== undefined}
        act={() => troupe.send("DELETE", path)}
        onDone={again}
      />
      <h2>Schedules</h2>
      <Schedules agentId={agentId} />
      <h2>Subscriptions</h2>
      <AgentSubscriptions agentId={agentId} />
      <h2>Memory</h2>
      <AgentMemory agentId={agentId} />
      <h2>Images</h2>
      <Images agentId={agentId} />
    </Page>
  )
}
