/** On whose behalf agents work: each can be refused new work, and be let in again. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

export const Identities = () => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const again = () => queries.invalidateQueries({ queryKey: ["identities"] })
  return (
    <Page title="Identities" path="/v1/identities">
      <Listing
        label="Identities"
        empty="No identity has been seen yet."
        queryKey={["identities"]}
        ask={async (query, signal) => {
          const { identities, nextCursor } = await answerOf(
            troupe.api.GET("/v1/identities", { params: { query }, signal })
          )
          return { rows: identities, nextCursor }
        }}
        keyOf={({ identity }) => identity}
        columns={[
          {
            name: "Identity",
            cell: ({ identity }) => (
              <Link to="/threads" search={{ identity }}>
                {visibleLine(identity)}
              </Link>
            )
          },
          {
            name: "State",
            cell: ({ disabled, disabledAt }) =>
              disabled ? <>disabled {disabledAt === undefined ? null : <Time at={disabledAt} />}</> : "enabled"
          },
          {
            name: "Chart",
            cell: ({ actorId }) =>
              actorId === undefined ? null : (
                <Link to="/actors/$actorId" params={{ actorId }}>
                  steps
                </Link>
              )
          },
          { name: "Active agents", cell: ({ activeAgents }) => activeAgents },
          { name: "Last seen", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
          {
            name: "Change",
            cell: ({ disabled, identity }) =>
              disabled ? (
                <Act
                  key="enable"
                  label={`Enable ${visibleLine(identity)}`}
                  scope="admin"
                  act={() => troupe.send("POST", "/v1/identities/enable", { body: { identity } })}
                  onDone={again}
                />
              ) : (
                <Act
                  key="disable"
                  label={`Disable ${visibleLine(identity)}`}
                  sure="Refuse its new work"
                  scope="admin"
                  act={() => troupe.send("POST", "/v1/identities/disable", { body: { identity } })}
                  onDone={again}
                />
              )
          }
        ]}
      />
    </Page>
  )
}
