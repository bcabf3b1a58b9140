/**
 * Finds things by words in their names and descriptions: without an index, without chance, the same for the same query.
 *
 * A word of the query found in a name counts four, in a description one; beginnings of words count as words from three
 * letters on, so that "issue" finds "issues". A text that holds no word of the query is not found. Equal results keep
 * their order.
 */
const wordsInQuery = 16
/** Of a description: what it is for stands at its beginning. */
const charsRead = 1_000

/** Lower-case words with one space around each: `createIssue` and `create_issue` are two words both. */
const spaced = (text: string) => {
  const words = text
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, "$1 ")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return words === null ? "" : ` ${words.join(" ")} `
}

export interface Named {
  readonly name: string
  readonly description?: string
}

interface Read {
  readonly name: string
  readonly description: string
}

/** Catalogues never change, and are looked through again and again. */
const known = new WeakMap<Named, Read>()

const readingOf = (thing: Named) => {
  const found = known.get(thing)
  if (found !== undefined) return found
  const read = { name: spaced(thing.name), description: spaced((thing.description ?? "").slice(0, charsRead)) }
  known.set(thing, read)
  return read
}

/** "issues" looks for "issue". */
const wanted = (word: string) =>
  word.length < 3 ? ` ${word} ` : ` ${word.length > 3 ? word.replace(/s$/u, "") : word}`

/** Those that hold a word of the query, best first. */
export const ranked = <A extends Named>(query: string, things: ReadonlyArray<A>): ReadonlyArray<A> => {
  const words = [
    ...new Set(
      spaced(query)
        .trim()
        .split(" ")
        .filter((word) => word !== "")
        .slice(0, wordsInQuery)
        .map(wanted)
    )
  ]
  return things
    .map((thing) => {
      const { description, name } = readingOf(thing)
      return {
        thing,
        score: words.reduce(
          (sum, word) => sum + (name.includes(word) ? 4 : 0) + (description.includes(word) ? 1 : 0),
          0
        )
      }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ thing }) => thing)
}
