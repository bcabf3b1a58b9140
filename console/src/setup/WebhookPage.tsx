/** One webhook: its configuration, its secret, and what became of its deliveries. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Listing } from "../parts/Listing.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Secret } from "../parts/Secret.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/webhooks/$webhookId")
const fields = ["url", "events", "agentId", "description", "enabled"]
const states = ["pending", "delivered", "failed"] as const
type State = (typeof states)[number]

/** Deliveries come and go, and no stream tells of them. */
const everyMs = 3_000
/** What the server keeps of deliveries. */
const keptMs = 30 * 86_400_000

const Deliveries = ({ webhookId, isActive }: { readonly webhookId: string; readonly isActive: boolean }) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const choice = useId()
  const [state, setState] = useState<State>()
  const again = () => queries.invalidateQueries({ queryKey: ["webhooks", "deliveries", webhookId] })
  const path = `/v1/webhooks/${encodeURIComponent(webhookId)}`
  return (
    <>
      <p>
        <label htmlFor={choice}>Which</label>{" "}
        <select
          id={choice}
          value={state ?? ""}
          onChange={(event) => setState(states.find((each) => each === event.target.value))}
        >
          <option value="">all</option>
          {states.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </p>
      <Listing
        label="Deliveries"
        empty="There is none within the days that are kept."
        everyMs={everyMs}
        queryKey={["webhooks", "deliveries", webhookId, state ?? ""]}
        ask={async (query, signal) => {
          const { deliveries, nextCursor } = await answerOf(
            troupe.api.GET("/v1/webhooks/{webhookId}/deliveries", {
              params: { path: { webhookId }, query: { ...query, ...(state === undefined ? {} : { state }) } },
              signal
            })
          )
          return { rows: deliveries, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          { name: "Happened", cell: ({ createdAt }) => <Time at={createdAt} /> },
          { name: "Event", cell: ({ type }) => type },
          { name: "State", cell: ({ state: found }) => found },
          { name: "Attempts", cell: ({ attempts }) => String(attempts) },
          { name: "Next", cell: ({ nextAttemptAt: at }) => (at === undefined ? "" : <Time at={at} />) },
          {
            name: "Last answer",
            cell: ({ lastError, lastStatus }) =>
              visibleLine(lastError ?? (lastStatus === undefined ? "" : `${lastStatus}`))
          },
          {
            name: "Change",
            cell: ({ id, type }) => (
              <Act
                label={`Send ${type} again`}
                scope="admin"
                disabled={!isActive}
                act={() => troupe.send("POST", `${path}/deliveries/${id}/redeliver`)}
                onDone={again}
              />
            )
          }
        ]}
      />
      <Act
        label="Send all that have failed again"
        sure="Send them all again"
        scope="admin"
        disabled={!isActive}
        act={() =>
          troupe.send("POST", `${path}/resend`, { body: { from: new Date(Date.now() - keptMs).toISOString() } })
        }
        onDone={again}
      />
    </>
  )
}

export const WebhookPage = () => {
  const { webhookId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [secret, setSecret] = useState<string>()
  const path = `/v1/webhooks/${encodeURIComponent(webhookId)}`
  const found = useQuery({
    queryKey: ["webhooks", "one", webhookId],
    queryFn: ({ signal }) =>
      taggedOf(troupe.api.GET("/v1/webhooks/{webhookId}", { params: { path: { webhookId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Webhook" failure={found.error} retry={found.refetch} />
  const {
    body: { webhook },
    etag
  } = found.data
  const before = only(webhook, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["webhooks"] })
  return (
    <Page title={webhook.url} path={path}>
      {secret === undefined ? null : (
        <Secret kind="secret" of={webhook.url} value={secret} onSeen={() => setSecret(undefined)} />
      )}
      <Fields
        of={{
          Id: <code>{webhook.id}</code>,
          State: webhook.status,
          Reason: webhook.disabledReason ?? "",
          "Made by": `${webhook.createdBy.type} ${visibleLine(webhook.createdBy.identity ?? webhook.createdBy.id)}`,
          Changed: <Time at={webhook.updatedAt} />
        }}
      />
      <div className="buttons">
        <Act
          label="Send a test"
          scope="admin"
          disabled={!webhook.enabled}
          act={() => troupe.send("POST", `${path}/test`)}
          onDone={again}
        />
        <Act
          label="Rotate the secret"
          sure="Make a new secret; both sign for a day"
          scope="admin"
          act={async () => {
            const rotated = await answerOf(
              troupe.api.POST("/v1/webhooks/{webhookId}/rotate", { params: { path: { webhookId } }, body: {} })
            )
            setSecret(rotated.secret)
          }}
          onDone={again}
        />
      </div>
      <h2>Deliveries</h2>
      <Deliveries webhookId={webhookId} isActive={webhook.enabled} />
      <h2>Configuration</h2>
      <YamlEditor
        label="Webhook, as YAML"
        saveLabel="Save"
        scope="admin"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again })}
      />
      <Act
        label="Delete"
        sure="Delete it for good"
        scope="admin"
        act={() => troupe.send("DELETE", path)}
        onDone={() => {
          void queries.invalidateQueries({ queryKey: ["webhooks"] })
          return navigate({ to: "/webhooks" })
        }}
      />
    </Page>
  )
}
