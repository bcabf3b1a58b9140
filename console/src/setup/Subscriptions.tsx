/** Which messages of feeds become messages of agents: of the workspace, or of one agent. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"

const SubscriptionList = ({ agentId }: { readonly agentId?: string }) => {
  const { troupe } = useSession()
  return (
    <Listing
      label="Subscriptions"
      empty="There is no subscription."
      queryKey={["subscriptions", agentId ?? ""]}
      ask={async (query, signal) => {
        const { nextCursor, subscriptions } = await answerOf(
          troupe.api.GET("/v1/subscriptions", {
            params: { query: { ...query, ...(agentId === undefined ? {} : { agentId }) } },
            signal
          })
        )
        return { rows: subscriptions, nextCursor }
      }}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Name",
          cell: ({ id, name }) => (
            <Link to="/subscriptions/$subscriptionId" params={{ subscriptionId: id }}>
              {name === undefined ? id : visibleLine(name)}
            </Link>
          )
        },
        {
          name: "Feed",
          cell: ({ feedId, feedName }) => (
            <Link to="/feeds/$feedId" params={{ feedId }}>
              {visibleLine(feedName)}
            </Link>
          )
        },
        { name: "Cadence", cell: ({ cadence }) => cadence.mode },
        { name: "State", cell: ({ enabled }) => (enabled ? "enabled" : "disabled") },
        { name: "Pending", cell: ({ pendingCount }) => pendingCount.toLocaleString("en") },
        {
          name: "Last",
          cell: ({ lastEvaluatedAt, lastStatus }) =>
            lastEvaluatedAt === undefined ? (
              ""
            ) : (
              <>
                {lastStatus} <Time at={lastEvaluatedAt} />
              </>
            )
        }
      ]}
    />
  )
}

export const Subscriptions = () => (
  <Page title="Subscriptions" path="/v1/subscriptions">
    <p className="quiet">Messages of feeds that become messages of agents. A new one is made on the agent's page.</p>
    <SubscriptionList />
  </Page>
)

export const AgentSubscriptions = ({ agentId }: { readonly agentId: string }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  return (
    <>
      <SubscriptionList agentId={agentId} />
      <Fold label="New subscription">
        <YamlEditor
          isNew
          label="Subscription, as YAML"
          saveLabel="Create"
          done="Created."
          scope="write"
          value={{ feedId: "feed_…", cadence: { mode: "immediate" }, target: { mode: "spawn" }, intent: "" }}
          save={async (body) => {
            const answer = await troupe.send("POST", `/v1/agents/${encodeURIComponent(agentId)}/subscriptions`, {
              body
            })
            void queries.invalidateQueries({ queryKey: ["subscriptions"] })
            return answer
          }}
        />
      </Fold>
    </>
  )
}
