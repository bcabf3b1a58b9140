/** What can be done with a thread as a whole, and the ways to look at it. */
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { useSession } from "../session/Session.tsx"
import { Download } from "./Download.tsx"
import type { Detail } from "./useThread.ts"

type Control = "cancel" | "retry" | "compact" | "archive"

export const Controls = ({
  detail: { status, thread },
  isBusy,
  onDone
}: {
  readonly detail: Detail
  readonly isBusy: boolean
  readonly onDone: () => void
}) => {
  const { troupe } = useSession()
  const path = { threadId: thread.id }
  const control = useMutation({
    mutationFn: async (what: Control): Promise<void> => {
      if (what === "cancel")
        await troupe.api.POST("/v1/threads/{threadId}/cancel", { params: { path }, body: { clearQueue: false } })
      else await troupe.api.POST(`/v1/threads/{threadId}/${what}`, { params: { path } })
    },
    onSettled: onDone
  })
  const buttons: ReadonlyArray<readonly [what: Control, label: string, may: boolean]> = [
    ["cancel", "Cancel the turn", isBusy],
    ["retry", "Retry", status === "failed" || status === "cancelled"],
    ["compact", "Compact", true],
    ["archive", "Archive", !isBusy && thread.archivedAt === undefined]
  ]
  return (
    <>
      <div className="buttons">
        {buttons.map(([what, label, may]) => (
          <Gated key={what} scope="run" disabled={!may || control.isPending} onClick={() => control.mutate(what)}>
            {label}
          </Gated>
        ))}
        <Download thread={thread} />
      </div>
      {control.error === null ? null : <Failure failure={control.error} />}
    </>
  )
}

const views = [
  { view: undefined, label: "Conversation" },
  { view: "events", label: "Events" },
  { view: "timeline", label: "Timeline" },
  { view: "turns", label: "Turns" },
  { view: "chart", label: "Chart" }
] as const

export type View = Exclude<(typeof views)[number]["view"], undefined>

/** The place in the log goes along from view to view. */
export const Views = ({ seq, threadId }: { readonly threadId: string; readonly seq: number | undefined }) => (
  <nav aria-label="Views" className="views">
    {views.map(({ label, view }) => (
      <Link
        key={label}
        to="/threads/$threadId"
        params={{ threadId }}
        search={(before) => ({
          ...(view === undefined ? {} : { view }),
          ...(seq === undefined || view === "turns" || view === "chart" ? {} : { seq }),
          ...(view === "chart" && before.pos !== undefined ? { pos: before.pos } : {})
        })}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        {label}
      </Link>
    ))}
  </nav>
)
