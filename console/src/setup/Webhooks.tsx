/** Webhooks: endpoints that are told what happens. A secret is shown once, in the tab that asked for it. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Secret } from "../parts/Secret.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { useSession } from "../session/Session.tsx"

const fresh = { url: "https://", events: ["turn.failed", "wait.created"] }

type Created = components["schemas"]["WebhookSecretAnswer"]
const isCreated = (answer: unknown): answer is Created =>
  typeof answer === "object" && answer !== null && "webhook" in answer && "secret" in answer

export const Webhooks = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [created, setCreated] = useState<Created>()
  return (
    <Page title="Webhooks" path="/v1/webhooks">
      {created === undefined ? null : (
        <Secret kind="secret" of={created.webhook.url} value={created.secret} onSeen={() => setCreated(undefined)} />
      )}
      <Listing
        label="Webhooks"
        empty="Nobody is told of anything."
        queryKey={["webhooks"]}
        ask={async (query, signal) => {
          const { nextCursor, webhooks } = await answerOf(troupe.api.GET("/v1/webhooks", { params: { query }, signal }))
          return { rows: webhooks, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "URL",
            cell: ({ id, url }) => (
              <Link to="/webhooks/$webhookId" params={{ webhookId: id }}>
                {visibleLine(url)}
              </Link>
            )
          },
          { name: "Events", cell: ({ events }) => events.join(", ") },
          { name: "Of agent", cell: ({ agentId }) => (agentId === undefined ? "all" : <code>{agentId}</code>) },
          {
            name: "State",
            cell: ({ disabledReason, status }) =>
              disabledReason === undefined ? status : `${status}: ${disabledReason}`
          },
          { name: "Taken", cell: ({ lastSuccessAt: at }) => (at === undefined ? "never" : <Time at={at} />) },
          { name: "Failed", cell: ({ lastFailureAt: at }) => (at === undefined ? "never" : <Time at={at} />) }
        ]}
      />
      <Fold label="New webhook">
        <YamlEditor
          isNew
          label="Webhook, as YAML"
          saveLabel="Create"
          done="Created."
          scope="admin"
          value={fresh}
          save={async (body) => {
            const answer = await troupe.send("POST", "/v1/webhooks", { body })
            if (isCreated(answer)) setCreated(answer)
            void queries.invalidateQueries({ queryKey: ["webhooks"] })
            return answer
          }}
        />
      </Fold>
    </Page>
  )
}
