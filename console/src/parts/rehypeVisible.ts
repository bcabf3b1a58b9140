/** The texts of rendered Markdown, as texts that can be seen (visible.ts). */
import { visible } from "./visible.ts"

/** A node of hast, as far as text is in it. */
interface HastNode {
  value?: string
  readonly properties?: { alt?: unknown }
  readonly children?: ReadonlyArray<HastNode>
}

/**
 * A plugin of rehype: it runs when Markdown has been parsed, where references (`&#x202e;`) have become the characters
 * that they stand for.
 */
export const rehypeVisible = () => (tree: HastNode) => {
  for (let within: ReadonlyArray<HastNode> = [tree]; within.length > 0; ) {
    for (const node of within) {
      if (node.value !== undefined) node.value = visible(node.value)
      if (typeof node.properties?.alt === "string") node.properties.alt = visible(node.properties.alt)
    }
    within = within.flatMap(({ children = [] }) => children)
  }
}
