/** One feed: its newest messages, a message more, and its configuration. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { Act } from "../parts/Act.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Fields } from "../parts/Fields.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Json } from "../parts/Json.tsx"
import { NotYet, Page } from "../parts/Page.tsx"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { YamlEditor } from "../parts/YamlEditor.tsx"
import { isParked, parkedWords } from "../parts/parked.ts"
import { only, written } from "../parts/yaml.ts"
import { useSession } from "../session/Session.tsx"
import { rangeOf } from "./range.ts"
import { patching, taggedOf } from "./tagged.ts"

const route = getRouteApi("/feeds/$feedId")
const fields = ["name", "description", "tags", "retention"]
const pageSize = 50

const Message = ({ of }: { readonly of: components["schemas"]["FeedMessage"] }) => (
  <li className="card">
    <p className="quiet">
      #{of.seq} · {of.principal.type} {visibleLine(of.principal.identity ?? of.principal.id)} ·{" "}
      <Time at={of.appendedAt} />
      {of.tags.length === 0 ? "" : ` · ${visibleLine(of.tags.join(", "))}`}
    </p>
    <p className="words">{visible(of.text)}</p>
    {of.data === undefined ? null : <Json label={`Data of message ${of.seq}`} value={written(of.data)} />}
  </li>
)

const Messages = ({ feed }: { readonly feed: components["schemas"]["Feed"] }) => {
  const { troupe } = useSession()
  const feedId = feed.id
  const [start, setStart] = useState<number>()
  const found = useQuery({
    queryKey: ["feeds", "messages", feedId, start],
    queryFn: ({ signal }) => {
      const end = start === undefined ? {} : { endSeq: start + pageSize - 1 }
      const ask = (next = start) =>
        answerOf(
          troupe.api.GET("/v1/feeds/{feedId}/messages", {
            params: {
              path: { feedId },
              query: {
                ...(next === undefined ? { tailOffset: pageSize } : { startSeq: next }),
                ...end,
                limit: pageSize
              }
            },
            signal
          })
        )
      return rangeOf(ask, pageSize)
    }
  })
  if (found.error !== null) return <Failure failure={found.error} retry={() => void found.refetch()} />
  if (found.data === undefined) return <p className="quiet">Looking…</p>
  const messages = found.data.toReversed()
  const oldest = messages.at(-1)?.seq ?? start ?? feed.firstSeq
  return (
    <>
      {messages.length === 0 ? <p className="quiet">There is no message here.</p> : null}
      <ol className="cards">
        {messages.map((message) => (
          <Message key={message.seq} of={message} />
        ))}
      </ol>
      <div className="buttons">
        <button
          type="button"
          disabled={oldest <= feed.firstSeq}
          onClick={() => setStart(Math.max(feed.firstSeq, oldest - pageSize))}
        >
          Older
        </button>
        <button type="button" disabled={start === undefined} onClick={() => setStart(undefined)}>
          Newest
        </button>
      </div>
    </>
  )
}

const Append = ({ feedId, onAppended }: { readonly feedId: string; readonly onAppended: () => void }) => {
  const { troupe } = useSession()
  const ids = { text: useId(), tags: useId() }
  const [text, setText] = useState("")
  const [tags, setTags] = useState("")
  const append = useMutation({
    mutationFn: () => {
      const named = tags.split(",").map((tag) => tag.trim())
      const chosen = named.filter((tag) => tag !== "")
      return answerOf(
        troupe.api.POST("/v1/feeds/{feedId}/messages", {
          params: { path: { feedId } },
          body: { messages: [{ text, ...(chosen.length === 0 ? {} : { tags: chosen }) }] }
        })
      )
    },
    onSuccess: () => {
      setText("")
      onAppended()
    }
  })
  return (
    <form
      className="decision"
      onSubmit={(event) => {
        event.preventDefault()
        append.mutate()
      }}
    >
      <label htmlFor={ids.text}>Message</label>
      <textarea id={ids.text} rows={3} value={text} onChange={(event) => setText(event.target.value)} />
      <label htmlFor={ids.tags}>Tags, with commas between</label>
      <input id={ids.tags} value={tags} onChange={(event) => setTags(event.target.value)} />
      <div className="buttons">
        <Gated scope="run" type="submit" className="primary" disabled={text === "" || append.isPending}>
          Append
        </Gated>
        {append.isSuccess ? <span role="status">{isParked(append.data) ? parkedWords : "Appended."}</span> : null}
      </div>
      {append.error === null ? null : <Failure failure={append.error} />}
    </form>
  )
}

export const FeedPage = () => {
  const { feedId } = route.useParams()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const path = `/v1/feeds/${encodeURIComponent(feedId)}`
  const found = useQuery({
    queryKey: ["feeds", "one", feedId],
    queryFn: ({ signal }) => taggedOf(troupe.api.GET("/v1/feeds/{feedId}", { params: { path: { feedId } }, signal }))
  })
  if (found.data === undefined) return <NotYet title="Feed" failure={found.error} retry={found.refetch} />
  const {
    body: { feed },
    etag
  } = found.data
  const before = only(feed, fields)
  const again = () => queries.invalidateQueries({ queryKey: ["feeds"] })
  return (
    <Page title={feed.name} path={path}>
      {feed.description === undefined ? null : <p className="words">{visible(feed.description)}</p>}
      <Fields
        of={{
          Id: <code>{feed.id}</code>,
          Messages: `#${feed.firstSeq} to #${feed.lastSeq}`,
          "Made by": `${feed.createdBy.type} ${visibleLine(feed.createdBy.identity ?? feed.createdBy.id)}`,
          Made: <Time at={feed.createdAt} />,
          Archived: feed.archivedAt === undefined ? undefined : <Time at={feed.archivedAt} />
        }}
      />
      {feed.archivedAt === undefined ? <Append feedId={feedId} onAppended={() => void again()} /> : null}
      <h2>Messages</h2>
      <Messages feed={feed} />
      <h2>Configuration</h2>
      <YamlEditor
        label="Feed, as YAML"
        saveLabel="Save"
        scope="write"
        value={before}
        etag={etag}
        save={patching(troupe, { path, again })}
      />
      <Act
        label="Archive"
        sure="Archive it for good"
        scope="write"
        disabled={feed.archivedAt !== undefined}
        act={() => troupe.send("POST", `${path}/archive`)}
        onDone={again}
      />
    </Page>
  )
}
