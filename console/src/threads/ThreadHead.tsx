/** What a thread is, and where it stands, in two lines. */
import { Link } from "@tanstack/react-router"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import type { Detail } from "./useThread.ts"

/** The way to the thread that this one was made for. */
const Caused = ({ thread: { askedBy, reviews } }: Pick<Detail, "thread">) => {
  const [what, by] = askedBy === undefined ? ["judges for", reviews] : ["asked for by", askedBy]
  return by === undefined ? null : (
    <>
      <Link to="/threads/$threadId" params={{ threadId: by.threadId }} search={{}}>
        {what} another thread
      </Link>{" "}
      ·{" "}
    </>
  )
}

export const ThreadHead = ({
  detail: { budgetSpend, model, status, thread, updatedAt, usage, waitingFor },
  isOpen
}: {
  readonly detail: Detail
  readonly isOpen: boolean | undefined
}) => (
  <>
    <h1>{thread.title === undefined ? thread.id : visibleLine(thread.title)}</h1>
    <p>
      <Status status={status} />
      {waitingFor === undefined ? null : <span className="badge">stands in line ({waitingFor})</span>}{" "}
      {isOpen === false ? <span className="problem-mark">no line to the server</span> : null}{" "}
      <span className="quiet">
        {model ?? "no model yet"} · {usage.totalTokens.toLocaleString("en")} tokens
        {usage.estimatedCost === undefined ? "" : ` · $${usage.estimatedCost.toFixed(4)}`} · agent has spent $
        {budgetSpend.spent.toFixed(4)} ({budgetSpend.window}) · <Time at={updatedAt} /> ·{" "}
        <Copy label={thread.id} text={() => thread.id} /> · <Caused thread={thread} />
        <Copy label="copy as curl" text={() => curlOf("GET", `/v1/threads/${thread.id}`)} />
      </span>
    </p>
  </>
)
