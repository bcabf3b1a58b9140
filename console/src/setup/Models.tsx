/** The models that this server can use, with what they cost. */
import { answerOf } from "../../../src/client/client.ts"
import { Listing } from "../parts/Listing.tsx"
import { Page } from "../parts/Page.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const tokens = (count: number | undefined) => (count === undefined ? "" : count.toLocaleString("en"))
const price = (dollars: number | undefined) => (dollars === undefined ? "" : `$${dollars}`)

export const Models = () => {
  const { troupe } = useSession()
  return (
    <Page title="Models" path="/v1/models">
      <p className="quiet">Prices are in US dollars for a million tokens.</p>
      <Listing
        label="Models"
        empty="This server has no model: it needs a key of a provider."
        queryKey={["models"]}
        ask={async (query, signal) => {
          const { models, nextCursor } = await answerOf(troupe.api.GET("/v1/models", { params: { query }, signal }))
          return { rows: models, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          { name: "Model", cell: ({ id }) => <code>{visibleLine(id)}</code> },
          { name: "Name", cell: ({ displayName }) => visibleLine(displayName) },
          { name: "State", cell: ({ status }) => status },
          { name: "Context", cell: ({ contextWindow }) => tokens(contextWindow) },
          { name: "Longest answer", cell: ({ maxOutputTokens }) => tokens(maxOutputTokens) },
          { name: "Features", cell: ({ features }) => features.join(", ") },
          { name: "Input", cell: ({ pricing }) => price(pricing?.input) },
          { name: "Output", cell: ({ pricing }) => price(pricing?.output) }
        ]}
      />
    </Page>
  )
}
