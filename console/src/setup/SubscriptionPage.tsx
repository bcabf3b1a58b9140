/** One subscription: what became of messages, a sample to try, and its configuration. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Json } from "../parts/Json.tsx"
import { Listing } from "../parts/Listing.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only, written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { Parked, patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/subscriptions/$subscriptionId")
const fields = ["name", "cadence", "target", "condition", "intent", "includeSelf", "screen", "identity", "enabled"]
/** What it has done with messages is told by no stream. */
const everyMs = 3_000

const Evaluations = ({ subscriptionId }: { readonly subscriptionId: string }) => {
  const { troupe } = useSession()
  return (
    <Listing
      label="Evaluations"
      empty="No message has come yet."
      everyMs={everyMs}
      queryKey={["subscriptions", "evaluations", subscriptionId]}
      ask={async (query, signal) => {
        const { evaluations, nextCursor } = await answerOf(
          troupe.api.GET("/v1/subscriptions/{subscriptionId}/evaluations", {
            params: { path: { subscriptionId }, query },
            signal
          })
        )
        return { rows: evaluations, nextCursor }
      }}
      keyOf={({ seq }) => String(seq)}
      columns={[
        { name: "When", cell: ({ at }) => <Time at={at} /> },
        {
          name: "Messages",
          cell: ({ fromSeq, toSeq }) => (fromSeq === toSeq ? `#${toSeq}` : `#${fromSeq} to #${toSeq}`)
        },
        { name: "Came to", cell: ({ status }) => status },
        {
          name: "Reason",
          cell: ({ error, reason }) =>
            visibleLine(error === undefined ? (reason ?? "") : `${error.code}: ${error.message}`)
        },
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

const Trial = ({ path }: { readonly path: string }) => {
  const { troupe } = useSession()
  const [outcome, setOutcome] = useState<unknown>()
  return (
    <>
      <YamlEditor
        isNew
        label="Sample, as YAML"
        saveLabel="Try the sample"
        done="It was tried; nothing was handed over."
        scope="write"
        value={{ text: "a message that might come" }}
        save={async (sample) => {
          setOutcome(undefined)
          setOutcome(await troupe.send("POST", `${path}/evaluate`, { body: { sample } }))
        }}
      />
      {outcome === undefined ? null : <Json label="What it came to" value={written(outcome)} />}
    </>
  )
}

export const SubscriptionPage = () => {
  const { subscriptionId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`
  const found = useQuery({
    queryKey: ["subscriptions", "one", subscriptionId],
    queryFn: async ({ signal }) => {
      const { body, etag } = await taggedOf(
        troupe.api.GET("/v1/subscriptions/{subscriptionId}", { params: { path: { subscriptionId } }, signal })
      )
      if ("operation" in body) throw new Parked()
      return { subscription: body, etag }
    }
  })
  if (found.data === undefined) return <NotYet title="Subscription" failure={found.error} retry={found.refetch} />
  const { etag, subscription } = found.data
  const before = only(subscription, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["subscriptions"] })
  return (
    <Page title={subscription.name ?? subscription.id} path={path}>
      <p>
        <Link to="/actors/$actorId" params={{ actorId: subscription.id }}>
          On its chart
        </Link>
      </p>
      <Fields
        of={{
          Id: <code>{subscription.id}</code>,
          Agent: (
            <Link to="/agents/$agentId" params={{ agentId: subscription.agentId }}>
              its agent
            </Link>
          ),
          Feed: (
            <Link to="/feeds/$feedId" params={{ feedId: subscription.feedId }}>
              {visibleLine(subscription.feedName)}
            </Link>
          ),
          State: subscription.enabled ? "enabled" : "disabled",
          Reason: visibleLine(subscription.disabledReason ?? ""),
          "Looked at": `up to #${subscription.cursor}, ${subscription.pendingCount} pending`,
          Next: subscription.nextAt === undefined ? undefined : <Time at={subscription.nextAt} />,
          Changed: <Time at={subscription.updatedAt} />
        }}
      />
      <h2>What became of messages</h2>
      <Evaluations subscriptionId={subscriptionId} />
      <h2>Dry run</h2>
      <Trial path={path} />
      <h2>Configuration</h2>
      <YamlEditor
        label="Subscription, as YAML"
        saveLabel="Save"
        scope="write"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again, whole: ["cadence", "target"] })}
      />
      <Act
        label="Delete"
        sure="Delete it for good"
        scope="write"
        act={() => troupe.send("DELETE", path)}
        onDone={() => {
          void queries.invalidateQueries({ queryKey: ["subscriptions", ""] })
          return navigate({ to: "/subscriptions" })
        }}
      />
    </Page>
  )
}
