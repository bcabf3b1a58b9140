/** One entry of a memory: its value, to change, and what it was before. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useId, useState } from "react"
import { TroupeError } from "../../../src/client/errors.ts"
import type { components } from "../../../src/client/types.ts"
import { Act } from "../parts/Act.tsx"
import { Diff } from "../parts/Diff.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Listing } from "../parts/Listing.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { orNone } from "../parts/orNone.ts"
import { isParked, parkedWords } from "../parts/parked.ts"
import type { Notes } from "./notes.ts"

type Version = components["schemas"]["MemoryVersion"]

interface Of {
  readonly notes: Notes
  readonly memoryKey: string
}

const useAgain = ({ name }: Notes) => {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ["memory", name] })
}

/**
 * What is typed is written over the version that it was made of, or where there is no entry. Where somebody was first,
 * it stands over theirs from then on.
 */
export const Writing = ({
  before: current,
  expectedVersion: version,
  label,
  memoryKey,
  notes,
  onWritten,
  saveLabel
}: Of & {
  readonly label: string
  readonly saveLabel: string
  readonly before: string
  /** `none`: there must be none. */
  readonly expectedVersion: string
  readonly onWritten?: () => void
}) => {
  const id = useId()
  const again = useAgain(notes)
  /** Without `over` it is over whatever was read last. */
  const [typed, setTyped] = useState<{
    readonly text: string
    readonly over?: { readonly before: string; readonly expectedVersion: string }
  }>()
  const over = typed?.over ?? { before: current, expectedVersion: version }
  const { before, expectedVersion } = over
  const text = typed?.text ?? before
  const write = useMutation({
    mutationFn: () => notes.write(memoryKey, text, expectedVersion),
    onSuccess: () => {
      setTyped(undefined)
      onWritten?.()
    },
    onError: (failure) => {
      if (failure instanceof TroupeError && failure.error === "memory_conflict") setTyped({ text })
    },
    onSettled: again
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        write.mutate()
      }}
    >
      <label htmlFor={id}>{label}</label>
      <textarea id={id} rows={4} value={text} onChange={(event) => setTyped({ text: event.target.value, over })} />
      {typed === undefined || before === "" ? null : <Diff before={before} after={text} />}
      <div className="buttons">
        <Gated
          scope="write"
          type="submit"
          className="primary"
          disabled={text === before || memoryKey === "" || write.isPending}
        >
          {saveLabel}
        </Gated>
        {write.isSuccess ? <span role="status">{isParked(write.data) ? parkedWords : "Written."}</span> : null}
      </div>
      {write.error === null ? null : <Failure failure={write.error} />}
    </form>
  )
}

const Current = ({ memoryKey, notes }: Of) => {
  const again = useAgain(notes)
  const found = useQuery({
    queryKey: ["memory", notes.name, "entry", memoryKey],
    // null: there is no entry. A query's undefined means that no answer has come yet.
    queryFn: async ({ signal }) => (await orNone(notes.entry(memoryKey, signal)))?.entry ?? null
  })
  if (found.error !== null) return <Failure failure={found.error} retry={() => void found.refetch()} />
  if (found.data === undefined) return <p className="quiet">Looking…</p>
  const entry = found.data
  const { value = "", version = "none" } = entry ?? {}
  return (
    <>
      {entry === null ? <p className="quiet">It is deleted.</p> : null}
      <Writing
        label="Value"
        saveLabel="Write"
        before={value}
        expectedVersion={version}
        memoryKey={memoryKey}
        notes={notes}
      />
      {entry === null ? null : (
        <Act
          label="Delete the entry"
          sure="Delete it"
          scope="write"
          act={() => notes.remove(memoryKey, version)}
          onDone={again}
        />
      )}
    </>
  )
}

/** A version's value, beside the one before it. */
const VersionText = ({ memoryKey, notes, version }: Of & { readonly version: Version }) => {
  const again = useAgain(notes)
  const texts = useQuery({
    queryKey: ["memory", notes.name, memoryKey, version.version],
    queryFn: async ({ signal }) => {
      const asked = (versionId: string) => notes.version(memoryKey, versionId, signal)
      const { previousVersion } = version
      const [now, before] = await Promise.all([
        asked(version.version),
        // It may be older than what is kept.
        previousVersion === undefined ? undefined : orNone(asked(previousVersion))
      ])
      const { redactedAt, value = "" } = now.version
      return { before: before?.version.value ?? "", after: value, redactedAt }
    }
  })
  if (texts.error !== null) return <Failure failure={texts.error} retry={() => void texts.refetch()} />
  if (texts.data === undefined) return <p className="quiet">Looking…</p>
  const { after, before, redactedAt } = texts.data
  return (
    <>
      <Scroll className="code-box" label={`Value of version ${version.version}`}>
        <pre>{visible(after)}</pre>
      </Scroll>
      {redactedAt === undefined ? null : (
        <p className="quiet">
          Its value was erased <Time at={redactedAt} />.
        </p>
      )}
      {version.previousVersion === undefined ? null : <Diff before={before} after={after} />}
      <Act
        label="Redact this version"
        sure="Erase its value for good"
        scope="write"
        disabled={redactedAt !== undefined}
        act={() => notes.redact(memoryKey, version.version)}
        onDone={again}
      />
    </>
  )
}

export const Entry = ({ memoryKey, notes }: Of) => {
  const [chosen, setChosen] = useState<Version>()
  return (
    <section className="card" aria-label={`Versions of ${visibleLine(memoryKey)}`}>
      <h3>{visibleLine(memoryKey)}</h3>
      <Current key={memoryKey} memoryKey={memoryKey} notes={notes} />
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
