/** What there is to know of one thing, by name. Absent values are left out. */
import type { ReactNode } from "react"

export const Fields = ({ of }: { readonly of: Readonly<Record<string, ReactNode>> }) => (
  <dl className="fields">
    {Object.entries(of)
      .filter(([, value]) => value !== undefined && value !== "")
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
