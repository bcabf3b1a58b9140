/** A button that needs a scope: where the key does not have it, it is disabled and says which. */
import type { ButtonHTMLAttributes } from "react"
import { type Scope, useMay } from "../session/Session.tsx"

export const Gated = ({
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
    />
  )
}
