/** A part of the page that scrolls by itself: named, and reached by the keyboard. */
import type { ReactNode, Ref, UIEventHandler } from "react"

export const Scroll = ({
  children,
  className,
  label,
  onScroll,
  ref
}: {
  readonly children: ReactNode
  readonly className: string
  readonly label: string
  readonly onScroll?: UIEventHandler<HTMLElement>
  readonly ref?: Ref<HTMLElement>
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
  <section className={className} ref={ref} onScroll={onScroll} tabIndex={0} aria-label={label}>
    {children}
  </section>
)
