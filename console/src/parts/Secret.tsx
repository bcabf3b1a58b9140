/** What the server shows once and keeps nowhere in the open: shown here until somebody has it. */
import { Copy } from "./Copy.tsx"
import { visibleLine } from "./visible.ts"

export const Secret = ({
  kind,
  of,
  onSeen,
  value
}: {
  /** What it is, such as `token`. */
  readonly kind: string
  /** The name of what it belongs to. */
  readonly of: string
  readonly value: string
  readonly onSeen: () => void
}) => (
  <section className="card" aria-label={`The new ${kind}`}>
    <p>
      The {kind} of <strong>{visibleLine(of)}</strong>. It is shown here, once:
    </p>
    <p>
      <code>{value}</code> <Copy label={`copy the ${kind}`} text={() => value} />
    </p>
    <div className="buttons">
      <button type="button" onClick={onSeen}>
        I have it
      </button>
    </div>
  </section>
)
