/** What stands in the place of what a key may not see. */
import type { Scope } from "../session/Session.tsx"

export const Lacks = ({ scope, what }: { readonly scope: Scope; readonly what: string }) => (
  <p className="problem">
    This key lacks the scope <code>{scope}</code>: {what}
  </p>
)
