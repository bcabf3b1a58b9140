/** What is around every page: the way to the others, a box for ids, and whether the line to the server is there. */
import { Link, Outlet, useNavigate } from "@tanstack/react-router"
import { type FormEvent, useEffect, useState } from "react"
import { useInbox } from "./inbox/useInbox.ts"
import { useWorkspaceNews } from "./live/workspace.ts"
import { known, placeOf } from "./places.ts"
import { useSession } from "./session/Session.tsx"
import { SetupMenu } from "./SetupMenu.tsx"

const IdBox = () => {
  const navigate = useNavigate()
  const [text, setText] = useState("")
  const [problem, setProblem] = useState<string>()
  const go = (event: FormEvent) => {
    event.preventDefault()
    const place = placeOf(text.trim())
    if (place === undefined) return setProblem(`Ids that lead to a page begin with ${known}.`)
    setProblem(undefined)
    setText("")
    void navigate(place)
  }
  return (
    <search className="id-box">
      <form onSubmit={go}>
        <input
          aria-label="Go to a thread by its id, or to anything else"
          placeholder="Paste an id: thr_…, agt_…"
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
        {problem === undefined ? null : <span role="alert">{problem}</span>}
      </form>
    </search>
  )
}

export const Layout = () => {
  const { auth, signOut } = useSession()
  const isOpen = useWorkspaceNews()
  const { count } = useInbox()
  useEffect(() => {
    document.title = count === 0 ? "Troupe" : `(${count}) Troupe`
  }, [count])
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <Link to="/" className="brand">
          Troupe
        </Link>
        <nav aria-label="Pages">
          <Link to="/" activeOptions={{ exact: true }}>
            Inbox{count === 0 ? "" : ` (${count})`}
          </Link>
          <Link to="/threads" activeOptions={{ includeSearch: false }}>
            Threads
          </Link>
          <SetupMenu />
          <a href="/docs">API</a>
        </nav>
        <IdBox />
        <div className="who">
          {isOpen === false ? (
            <span role="status" className="problem-mark">
              No line to the server
            </span>
          ) : null}
          <span className="quiet" title={`scopes: ${auth.scopes.join(", ")}`}>
            {auth.principal.identity ?? auth.principal.type}
          </span>
          <button type="button" className="link" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content">
        <Outlet />
      </main>
    </div>
  )
}
