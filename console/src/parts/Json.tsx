/** A value as JSON, to read. Long ones are folded. */
import { useState } from "react"
import { jsonText } from "./jsonText.ts"
import { Scroll } from "./Scroll.tsx"
import { visible } from "./visible.ts"

const foldedLines = 12
const foldedChars = 4_000

export const Json = ({ label, value }: { readonly value: unknown; readonly label: string }) => {
  const [isOpen, setOpen] = useState(false)
  const text = visible(typeof value === "string" ? value : jsonText(value))
  const lines = text.split("\n")
  const isLong = lines.length > foldedLines || text.length > foldedChars
  const shown = isOpen || !isLong ? text : lines.slice(0, foldedLines).join("\n").slice(0, foldedChars)
  return (
    <div className="json">
      <Scroll className="code-box" label={label}>
        <pre>
          {shown}
          {isLong && !isOpen ? " …" : ""}
        </pre>
      </Scroll>
      {isLong ? (
        <button type="button" className="link" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : `Show all (${text.length.toLocaleString("en")} characters)`}
        </button>
      ) : null}
    </div>
  )
}
