/** Lists that come in pages, row by row. */

/** Every row of a list, from the first page on; a page is asked for when its first row is. */
export async function* rowsOf<Page extends { readonly nextCursor?: string }, Row>(
  ask: (cursor: string | undefined) => Promise<Page>,
  rows: (page: Page) => ReadonlyArray<Row>
): AsyncGenerator<Row, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await ask(cursor)
    yield* rows(page)
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
