/** Threads of which hints have told since the list of threads was last asked for from its beginning. */
export const changedThreads = new Set<string>()
