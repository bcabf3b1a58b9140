/** A page of the setup: its heading, the same request for curl, and what a failed question says. */
import type { ReactNode } from "react"
import { Copy, curlOf } from "./Copy.tsx"
import { Failure } from "./Failure.tsx"
import { visibleLine } from "./visible.ts"

export const Page = ({
  children,
  path,
  title
}: {
  readonly title: string
  /** Of the request that the page shows. */
  readonly path: string
  readonly children: ReactNode
}) => (
  <section>
    <h1>{visibleLine(title)}</h1>
    <p>
      <Copy label="copy as curl" text={() => curlOf("GET", path)} />
    </p>
    {children}
  </section>
)

export const NotYet = ({
  failure,
  retry,
  title
}: {
  readonly title: string
  readonly failure: unknown
  readonly retry: () => unknown
}) => (
  <section>
    <h1>{title}</h1>
    {failure === null ? <p className="quiet">Looking…</p> : <Failure failure={failure} retry={() => void retry()} />}
  </section>
)

/** Something that is opened when it is wanted. */
export const Fold = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <details className="card">
    <summary>{label}</summary>
    {children}
  </details>
)
