/**
 * Whether a text is read as Markdown in no time. The parser takes time with the square of marks that may open or close
 * something, and a call on the stack for each block that lies in another one: what a model says in a message must not
 * stop the page. A text that is not tame is shown as it is.
 */

/** A text at one of these bounds is parsed in less than a second. Prose and programs come nowhere near them. */
const most = { emphasis: 2_500, links: 2_000, images: 300, cells: 6_000, depth: 100, indent: 80 }

const nested = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${most.depth + 1}}`, "m")
/** A list in a list in a list, each on its line. */
const indented = new RegExp(`^[ \\t]{${most.indent}}[ \\t]*(?:[-*+]|\\d{1,9}[.)])[ \\t]`, "m")

export const isTame = (text: string): boolean => {
  const counts = { emphasis: 0, links: 0, images: 0, cells: 0 }
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === "*" || character === "_" || character === "~") counts.emphasis++
    else if (character === "|") counts.cells++
    else if (character === "[") {
      counts.links++
      if (text[i - 1] === "!") counts.images++
    }
  }
  return (
    counts.emphasis <= most.emphasis &&
    counts.links <= most.links &&
    counts.images <= most.images &&
    counts.cells <= most.cells &&
    !nested.test(text) &&
    !indented.test(text)
  )
}
