/** One profile: its latest version to change, its versions, and what changed between two of them. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Act } from "../parts/Act.tsx"
import { Diff } from "../parts/Diff.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Listing } from "../parts/Listing.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { only, written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/profiles/$profileId")
const fields = [
  "name",
  "description",
  "models",
  "systemPrompt",
  "sampling",
  "compaction",
  "limits",
  "families",
  "familyExposure",
  "memory",
  "toolsetIds",
  "roleIds",
  "hooks"
]

const VersionChoice = ({
  label,
  latest,
  onChosen,
  value
}: {
  readonly label: string
  readonly latest: number
  readonly value: number
  readonly onChosen: (version: number) => void
}) => {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={1}
        max={latest}
        value={value}
        onChange={(event) => {
          const chosen = event.target.valueAsNumber
          if (Number.isInteger(chosen) && chosen >= 1 && chosen <= latest) onChosen(chosen)
        }}
      />
    </>
  )
}

const Comparison = ({ latest, profileId }: { readonly profileId: string; readonly latest: number }) => {
  const { troupe } = useSession()
  const [from, setFrom] = useState(Math.max(1, latest - 1))
  const [to, setTo] = useState(latest)
  const texts = useQuery({
    queryKey: ["profiles", "compared", profileId, from, to],
    queryFn: async ({ signal }) => {
      const textOf = async (version: number) => {
        const { profile } = await answerOf(
          troupe.api.GET("/v1/profiles/{profileId}/versions/{version}", {
            params: { path: { profileId, version: String(version) } },
            signal
          })
        )
        return written(only(profile, fields))
      }
      const [before, after] = await Promise.all([textOf(from), textOf(to)])
      return { before, after }
    }
  })
  return (
    <>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <VersionChoice label="From version" latest={latest} value={from} onChosen={setFrom} />
        <VersionChoice label="to version" latest={latest} value={to} onChosen={setTo} />
      </form>
      {texts.error === null ? null : <Failure failure={texts.error} retry={() => void texts.refetch()} />}
      {texts.data === undefined ? null : <Diff {...texts.data} />}
    </>
  )
}

export const ProfilePage = () => {
  const { profileId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const path = `/v1/profiles/${encodeURIComponent(profileId)}`
  const found = useQuery({
    queryKey: ["profiles", "one", profileId],
    queryFn: ({ signal }) =>
      taggedOf(troupe.api.GET("/v1/profiles/{profileId}", { params: { path: { profileId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Profile" failure={found.error} retry={found.refetch} />
  const {
    body: { profile },
    etag
  } = found.data
  const before = only(profile, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["profiles"] })
  return (
    <Page title={profile.name} path={path}>
      <Fields
        of={{
          Id: <code>{profile.id}</code>,
          Version: profile.version,
          Models: visibleLine(profile.models.join(", ")),
          Created: <Time at={profile.createdAt} />,
          Changed: <Time at={profile.updatedAt} />,
          Archived: profile.archivedAt === undefined ? undefined : <Time at={profile.archivedAt} />,
          Roles: <Link to="/roles">what its roles decide</Link>
        }}
      />
      <h2>Configuration</h2>
      <YamlEditor
        label="Profile, as YAML"
        saveLabel="Save a new version"
        scope="write"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again })}
      />
      <Act
        label="Archive"
        sure="Archive it for good"
        scope="write"
        disabled={profile.archivedAt !== undefined}
        act={() => troupe.send("DELETE", path)}
        onDone={again}
      />
      <h2>Versions</h2>
      <Comparison key={profile.version} profileId={profileId} latest={profile.version} />
      <Listing
        label="Versions"
        empty="There is no version."
        queryKey={["profiles", "versions", profileId]}
        ask={async (query, signal) => {
          const { nextCursor, versions } = await answerOf(
            troupe.api.GET("/v1/profiles/{profileId}/versions", { params: { path: { profileId }, query }, signal })
          )
          return { rows: versions, nextCursor }
        }}
        keyOf={({ version }) => String(version)}
        columns={[
          { name: "Version", cell: ({ version }) => version },
          { name: "Models", cell: ({ models }) => visibleLine(models.join(", ")) },
          { name: "Made", cell: ({ updatedAt }) => <Time at={updatedAt} /> }
        ]}
      />
    </Page>
  )
}
