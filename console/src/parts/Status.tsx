/** What a thread is doing, in a word, a colour and a shape. */
const marks: Readonly<Record<string, string>> = {
  running: "●",
  awaiting: "◐",
  idle: "○",
  failed: "✕",
  cancelled: "⊘"
}

export const Status = ({ status }: { readonly status: string }) => (
  <span className={`status ${status}`}>
    <span aria-hidden="true">{marks[status] ?? "·"}</span> {status}
  </span>
)
