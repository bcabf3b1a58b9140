/** Where a key is typed in. */
import { type FormEvent, useState } from "react"

export const SignIn = ({
  isAsking,
  onKey,
  problem
}: {
  readonly isAsking: boolean
  readonly problem: string | undefined
  readonly onKey: (key: string) => void
}) => {
  const [text, setText] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== "") onKey(text.trim())
  }
  return (
    <main className="sign-in">
      <h1>Troupe</h1>
      <form onSubmit={submit}>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="trp_…"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-describedby="key-help"
        />
        <button type="submit" className="primary" disabled={(isAsking && problem === undefined) || text.trim() === ""}>
          {isAsking && problem === undefined ? "Signing in…" : "Sign in"}
        </button>
        {problem === undefined ? null : (
          <p role="alert" className="problem">
            {problem}
            {isAsking ? " The key is kept, and tried again every few seconds." : ""}
          </p>
        )}
        <p id="key-help" className="quiet">
          The key stays in this tab. <code>npm start</code> prints a URL that brings it along;{" "}
          <code>troupe keys create</code> makes another one. <a href="/console/open">A downloaded thread</a> opens
          without a key.
        </p>
      </form>
    </main>
  )
}
