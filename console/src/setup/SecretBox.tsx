/** Where a secret is typed: nobody reads it on the screen, and no browser keeps it. */
import { useId } from "react"

export const SecretBox = ({
  label,
  onTyped,
  value
}: {
  readonly label: string
  readonly value: string
  readonly onTyped: (value: string) => void
}) => {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onTyped(event.target.value)}
      />
    </>
  )
}
