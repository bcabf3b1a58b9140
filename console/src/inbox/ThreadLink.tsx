/** Threads by their titles. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { answerOf } from "../../../src/client/client.ts"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { askerOf } from "./items.ts"

export const ThreadLink = ({ threadId, title }: { readonly threadId: string; readonly title: string | undefined }) => (
  <Link to="/threads/$threadId" params={{ threadId }}>
    {title === undefined ? threadId : visibleLine(title)}
  </Link>
)

/** Titles change seldom. */
const staleMs = 60_000

/** A thread of which only the id is known, after the threads that have asked for it. */
export const WayTo = ({ threadId }: { readonly threadId: string }) => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["inboxAsker", threadId],
    staleTime: staleMs,
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/threads/{threadId}", { params: { path: { threadId } }, signal }))
  })
  // Where reading waits for approval, or fails, the id says enough.
  const thread = found.data === undefined || "operation" in found.data ? undefined : found.data
  const asker = thread === undefined ? undefined : askerOf(thread)
  return (
    <>
      {asker === undefined ? null : (
        <>
          <WayTo threadId={asker} /> ›{" "}
        </>
      )}
      <ThreadLink threadId={threadId} title={thread?.thread.title} />
    </>
  )
}
