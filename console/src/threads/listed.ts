/**
 * A list of threads, newest change first, of which only the first page is asked for again: whatever has changed stands
 * there. What was known behind it stays, but for threads that have changed since and are not on the page.
 */
interface Row {
  readonly updatedAt: string
  readonly thread: { readonly id: string }
}

/** Undefined where no row stands on both: nobody knows what is between them. */
export const joined = <Thread extends Row>(
  known: ReadonlyArray<Thread>,
  first: { readonly threads: ReadonlyArray<Thread>; readonly nextCursor?: string },
  changed: ReadonlySet<string>
): ReadonlyArray<Thread> | undefined => {
  const oldest = first.threads.at(-1)
  // The whole list.
  if (first.nextCursor === undefined || oldest === undefined) return first.threads
  const onPage = new Map(first.threads.map((row) => [row.thread.id, row.updatedAt]))
  if (!known.some(({ thread, updatedAt }) => onPage.get(thread.id) === updatedAt)) return undefined
  const behind = known.filter(
    ({ thread, updatedAt }) =>
      !onPage.has(thread.id) && !changed.has(thread.id) && Date.parse(updatedAt) <= Date.parse(oldest.updatedAt)
  )
  return [...first.threads, ...behind]
}
