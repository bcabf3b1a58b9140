/** Notes of an agent or of the workspace: entries by key, a search, and the versions of an entry. */
import { useQuery } from "@tanstack/react-query"
import { type FormEvent, useId, useMemo, useState } from "react"
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Diff } from "../parts/Diff.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Listing, type PageQuery } from "../parts/Listing.tsx"
import { Page } from "../parts/Page.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

type Schemas = components["schemas"]
type Version = Schemas["MemoryVersion"]

/** Where notes are: of an agent, or of the workspace. */
interface Notes {
  readonly name: string
  readonly list: (query: PageQuery, signal: AbortSignal) => Promise<Schemas["MemoryPage"]>
  readonly search: (q: string, signal: AbortSignal) => Promise<Schemas["MemoryHits"]>
  readonly versions: (key: string, query: PageQuery, signal: AbortSignal) => Promise<Schemas["MemoryVersionPage"]>
  readonly version: (key: string, versionId: string, signal: AbortSignal) => Promise<Schemas["MemoryVersionAnswer"]>
}

const ofAgent = ({ api }: Troupe, agentId: string): Notes => {
  const path = { agentId }
  return {
    name: agentId,
    list: (query, signal) => answerOf(api.GET("/v1/agents/{agentId}/memory", { params: { path, query }, signal })),
    search: (q, signal) =>
      answerOf(api.GET("/v1/agents/{agentId}/memory/search", { params: { path, query: { q } }, signal })),
    versions: (key, query, signal) =>
      answerOf(
        api.GET("/v1/agents/{agentId}/memory/entry/versions", { params: { path, query: { ...query, key } }, signal })
      ),
    version: (key, versionId, signal) =>
      answerOf(
        api.GET("/v1/agents/{agentId}/memory/entry/versions/{versionId}", {
          params: { path: { agentId, versionId }, query: { key } },
          signal
        })
      )
  }
}

const ofWorkspace = ({ api }: Troupe): Notes => ({
  name: "workspace",
  list: (query, signal) => answerOf(api.GET("/v1/memory", { params: { query }, signal })),
  search: (q, signal) => answerOf(api.GET("/v1/memory/search", { params: { query: { q } }, signal })),
  versions: (key, query, signal) =>
    answerOf(api.GET("/v1/memory/entry/versions", { params: { query: { ...query, key } }, signal })),
  version: (key, versionId, signal) =>
    answerOf(
      api.GET("/v1/memory/entry/versions/{versionId}", { params: { path: { versionId }, query: { key } }, signal })
    )
})

/** A version's value, beside the one before it. */
const VersionText = ({
  memoryKey,
  notes,
  version
}: {
  readonly notes: Notes
  readonly memoryKey: string
  readonly version: Version
}) => {
  const textOf = (versionId: string | undefined, signal: AbortSignal) =>
    versionId === undefined
      ? Promise.resolve("")
      : notes.version(memoryKey, versionId, signal).then((found) => found.version.value ?? "")
  const texts = useQuery({
    queryKey: ["memory", notes.name, memoryKey, version.version],
    queryFn: async ({ signal }) => {
      const after = textOf(version.version, signal)
      // The one before may be older than what is kept.
      const before = await textOf(version.previousVersion, signal).catch(() => "")
      return { before, after: await after }
    }
  })
  if (texts.error !== null) return <Failure failure={texts.error} retry={() => void texts.refetch()} />
  if (texts.data === undefined) return <p className="quiet">Looking…</p>
  return (
    <>
      <Scroll className="code-box" label={`Value of version ${version.version}`}>
        <pre>{visible(texts.data.after)}</pre>
      </Scroll>
      {version.previousVersion === undefined ? null : <Diff {...texts.data} />}
    </>
  )
}

const Entry = ({ memoryKey, notes }: { readonly notes: Notes; readonly memoryKey: string }) => {
  const [chosen, setChosen] = useState<Version>()
  return (
    <section className="card" aria-label={`Versions of ${visibleLine(memoryKey)}`}>
      <h3>{visibleLine(memoryKey)}</h3>
      <Listing
        label="Versions"
        empty="No version of it is kept."
        queryKey={["memory", notes.name, "versions", memoryKey]}
        ask={async (query, signal) => {
          const { nextCursor, versions } = await notes.versions(memoryKey, query, signal)
          return { rows: versions, nextCursor }
        }}
        keyOf={({ version }) => version}
        columns={[
          {
            name: "Version",
            cell: (version) => (
              <button type="button" className="link" onClick={() => setChosen(version)}>
                {version.version}
              </button>
            )
          },
          {
            name: "What",
            cell: ({ operation, redactedAt }) => (redactedAt === undefined ? operation : `${operation}, redacted`)
          },
          { name: "Bytes", cell: ({ size }) => size.toLocaleString("en") },
          {
            name: "By",
            cell: ({ createdBy }) => `${createdBy.type} ${visibleLine(createdBy.identity ?? createdBy.id)}`
          },
          { name: "When", cell: ({ createdAt }) => <Time at={createdAt} /> }
        ]}
      />
      {chosen === undefined ? null : (
        <VersionText key={chosen.version} notes={notes} memoryKey={memoryKey} version={chosen} />
      )}
    </section>
  )
}

const Hits = ({
  notes,
  onChosen,
  q
}: {
  readonly notes: Notes
  readonly q: string
  readonly onChosen: (key: string) => void
}) => {
  const hits = useQuery({
    queryKey: ["memory", notes.name, "search", q],
    queryFn: ({ signal }) => notes.search(q, signal)
  })
  if (hits.error !== null) return <Failure failure={hits.error} />
  if (hits.data === undefined) return <p className="quiet">Looking…</p>
  if (hits.data.entries.length === 0) return <p className="quiet">Nothing fits.</p>
  return (
    <Table
      label="Found"
      rows={hits.data.entries}
      keyOf={({ key }) => key}
      columns={[
        {
          name: "Key",
          cell: ({ key }) => (
            <button type="button" className="link" onClick={() => onChosen(key)}>
              {visibleLine(key)}
            </button>
          )
        },
        { name: "Where", cell: ({ snippet }) => visibleLine(snippet) },
        { name: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> }
      ]}
    />
  )
}

const NotesView = ({ notes }: { readonly notes: Notes }) => {
  const id = useId()
  const [typed, setTyped] = useState("")
  const [q, setQ] = useState("")
  const [chosen, setChosen] = useState<string>()
  const search = (event: FormEvent) => {
    event.preventDefault()
    setQ(typed.trim())
  }
  return (
    <>
      <search>
        <form className="filters" onSubmit={search}>
          <label htmlFor={id}>Search the memory</label>
          <input id={id} value={typed} onChange={(event) => setTyped(event.target.value)} />
          <button type="submit">Search</button>
        </form>
      </search>
      {q === "" ? (
        <Listing
          label="Entries"
          empty="Nothing is noted."
          queryKey={["memory", notes.name]}
          ask={async (query, signal) => {
            const { entries, nextCursor } = await notes.list(query, signal)
            return { rows: entries, nextCursor }
          }}
          keyOf={({ key }) => key}
          columns={[
            {
              name: "Key",
              cell: ({ key }) => (
                <button type="button" className="link" onClick={() => setChosen(key)}>
                  {visibleLine(key)}
                </button>
              )
            },
            { name: "Bytes", cell: ({ size }) => size.toLocaleString("en") },
            {
              name: "By",
              cell: ({ updatedBy }) => `${updatedBy.type} ${visibleLine(updatedBy.identity ?? updatedBy.id)}`
            },
            { name: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> }
          ]}
        />
      ) : (
        <Hits notes={notes} q={q} onChosen={setChosen} />
      )}
      {chosen === undefined ? null : <Entry key={chosen} notes={notes} memoryKey={chosen} />}
    </>
  )
}

export const AgentMemory = ({ agentId }: { readonly agentId: string }) => {
  const { troupe } = useSession()
  return <NotesView notes={useMemo(() => ofAgent(troupe, agentId), [troupe, agentId])} />
}

export const MemoryPage = () => {
  const { troupe } = useSession()
  return (
    <Page title="Memory" path="/v1/memory">
      <p className="quiet">Notes that all agents of the workspace share. Those of an agent stand on its page.</p>
      <NotesView notes={useMemo(() => ofWorkspace(troupe), [troupe])} />
    </Page>
  )
}
