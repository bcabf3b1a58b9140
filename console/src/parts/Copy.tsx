/** Puts a text into the clipboard. */
import { useState } from "react"

export const Copy = ({ label, text }: { readonly text: () => string; readonly label: string }) => {
  const [state, setState] = useState<"" | "copied" | "not allowed">("")
  const copy = () => {
    // A page that came over http has no clipboard.
    if (!("clipboard" in navigator)) setState("not allowed")
    else
      navigator.clipboard.writeText(text()).then(
        () => setState("copied"),
        () => setState("not allowed")
      )
    setTimeout(() => setState(""), 2_000)
  }
  return (
    <button type="button" className="link" onClick={copy}>
      {state === "" ? label : state}
    </button>
  )
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A request as a line to paste; the key stays out of it. */
export const curlOf = (method: string, path: string, body?: unknown) =>
  [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} ${quoted(location.origin + path)}`,
    `-H "Authorization: Bearer $TROUPE_KEY"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`])
  ].join(" ")
