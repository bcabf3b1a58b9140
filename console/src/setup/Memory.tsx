/** Notes of an agent or of the workspace: entries by key, a search, and new ones. */
import { useQuery } from "@tanstack/react-query"
import { type FormEvent, useId, useMemo, useState } from "react"
import { Failure } from "../parts/Failure.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Fold, Page } from "../parts/Page.tsx"
import { Table } from "../parts/Table.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { Entry, Writing } from "./MemoryEntry.tsx"
import { type Notes, ofAgent, ofWorkspace } from "./notes.ts"

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

const NewEntry = ({ notes, onWritten }: { readonly notes: Notes; readonly onWritten: (key: string) => void }) => {
  const id = useId()
  const [key, setKey] = useState("")
  return (
    <Fold label="New entry">
      <label htmlFor={id}>Key</label>
      <input id={id} value={key} spellCheck={false} onChange={(event) => setKey(event.target.value)} />
      <Writing
        label="Its value"
        saveLabel="Write the new entry"
        before=""
        expectedVersion="none"
        memoryKey={key}
        notes={notes}
        onWritten={() => {
          setKey("")
          onWritten(key)
        }}
      />
    </Fold>
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
      <NewEntry notes={notes} onWritten={setChosen} />
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
