/** Text within what was made of Markdown, as text that can be seen (visible.ts). */
import { visible } from "./visible.ts"

/** What is made of Markdown, as far as text is in it. */
interface Made {
  value?: string
  readonly properties?: { alt?: unknown }
  readonly children?: ReadonlyArray<Made>
}

/** For rehype. Makes text visible where it is what will be shown: references (`&#x202e;`) have become what they stand for. */
export const showing = () => (tree: Made) => {
  for (let within: ReadonlyArray<Made> = [tree]; within.length > 0; ) {
    for (const made of within) {
      if (made.value !== undefined) made.value = visible(made.value)
      if (typeof made.properties?.alt === "string") made.properties.alt = visible(made.properties.alt)
    }
    within = within.flatMap(({ children = [] }) => children)
  }
}
