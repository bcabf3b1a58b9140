/**
 * A button that needs a scope: where the key does not have it, it is disabled and says which, in sight, since nothing
 * that is touched or read aloud is pointed at.
 */
import type { ButtonHTMLAttributes } from "react"
import { type Scope, useMay } from "../session/Session.tsx"

export const Gated = ({
  children,
  scope,
  title,
  disabled,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { readonly scope: Scope }) => {
  const may = useMay(scope)
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || !may}
      title={may ? title : `This key lacks the scope ${scope}.`}
    >
      {children}
      {/* What is read aloud says so by the title, behind the button's name. */}
      {may ? null : (
        <small className="lacks" aria-hidden="true">
          {" "}
          needs {scope}
        </small>
      )}
    </button>
  )
}
