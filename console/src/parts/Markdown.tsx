/**
 * Text of models and people as Markdown. It becomes elements, never HTML; nothing is loaded for it, and a link says
 * where it leads. What would stop the page is shown as it was written (tame.ts).
 */
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import { rehypeVisible } from "./rehypeVisible.ts"
import { isTame } from "./tame.ts"
import { visible } from "./visible.ts"

const isSafe = (url: string) => /^(?:https?:|mailto:)/i.test(url)

const components: Components = {
  a: ({ children, href = "" }) =>
    isSafe(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
        {children} <span className="quiet">({URL.canParse(href) ? new URL(href).host || href : href})</span>
      </a>
    ) : (
      <span>
        {children} <span className="quiet">({href})</span>
      </span>
    ),
  // Loading it would tell its server that somebody reads this.
  img: ({ alt = "", src = "" }) => (
    <span className="quiet">
      [image{alt === "" ? "" : ` ${alt}`}: {String(src)}]
    </span>
  )
}

export const Markdown = ({ text }: { readonly text: string }) => (
  <div className="markdown">
    {isTame(text) ? (
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[rehypeVisible]}
        components={components}
        urlTransform={(url) => url}
        skipHtml
      >
        {text}
      </ReactMarkdown>
    ) : (
      <pre>{visible(text)}</pre>
    )}
  </div>
)
