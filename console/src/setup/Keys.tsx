/** API keys: made, rotated, revoked. A token is shown once, in the tab that asked for it, and kept nowhere. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Act } from "../parts/Act.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Secret } from "../parts/Secret.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { type Scope, useSession } from "../session/Session.tsx"

const scopes: ReadonlyArray<Scope> = ["read", "run", "write", "approve", "admin"]

type Created = components["schemas"]["ApiKeyCreated"]

const NewKey = ({ onCreated }: { readonly onCreated: (created: Created) => void }) => {
  const { auth, troupe } = useSession()
  const ids = { name: useId(), identity: useId(), days: useId() }
  const [name, setName] = useState("")
  const [identity, setIdentity] = useState("")
  const [days, setDays] = useState("")
  const [chosen, setChosen] = useState<ReadonlyArray<Scope>>(["read"])
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        troupe.api.POST("/v1/auth/keys", {
          body: {
            name,
            scopes: [...chosen],
            ...(identity.trim() === "" ? {} : { identity: identity.trim() }),
            ...(days === "" ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() })
          }
        })
      ),
    onSuccess: (created) => {
      setName("")
      onCreated(created)
    }
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <label htmlFor={ids.name}>Name</label>
      <input id={ids.name} value={name} onChange={(event) => setName(event.target.value)} />
      <fieldset>
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              disabled={!auth.scopes.includes(scope)}
              onChange={(event) =>
                setChosen(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
              }
            />
            {scope}
          </label>
        ))}
      </fieldset>
      <label htmlFor={ids.identity}>Identity that it is bound to, if any</label>
      <input id={ids.identity} value={identity} onChange={(event) => setIdentity(event.target.value)} />
      <label htmlFor={ids.days}>Ends after days; never where this is empty</label>
      <input id={ids.days} type="number" min={1} value={days} onChange={(event) => setDays(event.target.value)} />
      <div className="buttons">
        <Gated
          scope="admin"
          type="submit"
          className="primary"
          disabled={name.trim() === "" || chosen.length === 0 || create.isPending}
        >
          Create
        </Gated>
      </div>
      {create.error === null ? null : <Failure failure={create.error} />}
    </form>
  )
}

export const Keys = () => {
  const { auth, troupe } = useSession()
  const queries = useQueryClient()
  const [created, setCreated] = useState<Created>()
  const again = () => queries.invalidateQueries({ queryKey: ["keys"] })
  const show = (made: Created) => {
    setCreated(made)
    void again()
  }
  return (
    <Page title="Keys" path="/v1/auth/keys">
      {created === undefined ? null : (
        <Secret kind="token" of={created.key.name} value={created.token} onSeen={() => setCreated(undefined)} />
      )}
      <Listing
        label="Keys"
        empty="There is no key."
        queryKey={["keys"]}
        ask={async (query, signal) => {
          const { keys, nextCursor } = await answerOf(troupe.api.GET("/v1/auth/keys", { params: { query }, signal }))
          return { rows: keys, nextCursor }
        }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            cell: ({ id, name }) => `${visibleLine(name)}${id === auth.principal.id ? " (in use here)" : ""}`
          },
          { name: "Kind", cell: ({ kind }) => kind },
          { name: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
          { name: "Identity", cell: ({ identity }) => visibleLine(identity ?? "") },
          { name: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
          { name: "Ends", cell: ({ expiresAt }) => (expiresAt === undefined ? "never" : <Time at={expiresAt} />) },
          { name: "Used", cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : <Time at={lastUsedAt} />) },
          {
            name: "Change",
            cell: ({ id, name }) => (
              <span className="buttons">
                <Act
                  label={`Rotate ${visibleLine(name)}`}
                  sure="Make a new token; the old one ends later"
                  scope="admin"
                  act={async () =>
                    setCreated(
                      await answerOf(
                        troupe.api.POST("/v1/auth/keys/{keyId}/rotate", { params: { path: { keyId: id } }, body: {} })
                      )
                    )
                  }
                  onDone={again}
                />
                <Act
                  label={`Revoke ${visibleLine(name)}`}
                  sure="Revoke it for good"
                  scope="admin"
                  act={() => troupe.send("DELETE", `/v1/auth/keys/${id}`)}
                  onDone={again}
                />
              </span>
            )
          }
        ]}
      />
      <Fold label="New key">
        <NewKey onCreated={show} />
      </Fold>
    </Page>
  )
}
