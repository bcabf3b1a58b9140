/**
 * What every provider demands of a history, told once: each protocol only says where calls, results and reasoning
 * stand.
 *
 * A call must be answered before anything else is said, a result must answer a call, ids must be unique, and the
 * reasoning that came with calls must come back with them, unchanged.
 */
export interface Said {
  readonly role: "user" | "assistant"
  readonly calls: ReadonlyArray<string>
  readonly results: ReadonlyArray<string>
  /** Signatures or encrypted reasoning in it. */
  readonly reasoning: ReadonlyArray<string>
}

/** Answers what is wrong. `issued` says which reasoning came with a call of that id. */
export const problemIn = (history: ReadonlyArray<Said>, issued: ReadonlyMap<string, string>): string | undefined => {
  if (history[0]?.role !== "user") return "the first message must be a user's"
  const seen = new Set<string>()
  let open = new Set<string>()
  for (const [index, { role, calls, results, reasoning }] of history.entries()) {
    for (const id of results) if (!open.delete(id)) return `message ${index}: the result ${id} has no call`
    if (open.size > 0) return `message ${index}: calls without a result: ${[...open].join(", ")}`
    if (role === "user" && calls.length > 0) return `message ${index}: a user cannot call`
    for (const id of calls) {
      if (seen.has(id)) return `message ${index}: the call id ${id} is not unique`
      seen.add(id)
      const token = issued.get(id)
      if (token !== undefined && !reasoning.includes(token))
        return `message ${index}: the reasoning of call ${id} is missing or changed`
    }
    open = new Set(calls)
  }
  return open.size > 0 ? `calls without a result: ${[...open].join(", ")}` : undefined
}
