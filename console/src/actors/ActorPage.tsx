/** An actor that has no page of its own, or a thread, on its chart. */
import { getRouteApi, Link } from "@tanstack/react-router"
import { useCallback } from "react"
import { ActorChart } from "./ActorChart.tsx"

const actor = getRouteApi("/actors/$actorId")

export const ActorPage = () => {
  const { actorId } = actor.useParams()
  const { pos, seq } = actor.useSearch()
  const navigate = actor.useNavigate()
  const onPos = useCallback(
    (to: number | undefined) => void navigate({ search: to === undefined ? {} : { pos: to }, replace: true }),
    [navigate]
  )
  return (
    <section className="tall">
      <h1>{actorId}</h1>
      {actorId.startsWith("thr_") ? (
        <p>
          <Link to="/threads/$threadId" params={{ threadId: actorId }} search={{}}>
            Its conversation
          </Link>
        </p>
      ) : null}
      <ActorChart actorId={actorId} pos={pos} seq={seq} onPos={onPos} />
    </section>
  )
}
