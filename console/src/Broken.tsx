/** In the place of a page that threw while it was rendered: why, in words. The menu around it goes on. */
import type { ErrorComponentProps } from "@tanstack/react-router"
import { Failure } from "./parts/Failure.tsx"

export const Broken = ({ error, reset }: ErrorComponentProps) => (
  <section>
    <h1>This page cannot be shown</h1>
    <Failure failure={error} retry={reset} />
  </section>
)
