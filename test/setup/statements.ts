/**
 * How many statements of a kind this process has asked a pool for (those of transactions are not). What a server counts itself is everything: also
 * what it does now and then by itself, so that a test which counts by it fails now and then.
 */
import pg from "pg"

const textOf = (asked: unknown): string => {
  if (typeof asked === "string") return asked
  return typeof asked === "object" && asked !== null && "text" in asked ? String(asked.text) : ""
}

/** Counts from now on. */
export const countStatements = (text: RegExp) => {
  let count = 0
  const { prototype } = pg.Pool
  const { query } = prototype
  Object.assign(prototype, {
    query(this: pg.Pool, ...args: ReadonlyArray<unknown>) {
      if (text.test(textOf(args[0]))) count++
      return Reflect.apply(query, this, args)
    }
  })
  return {
    get count() {
      return count
    },
    stop: () => {
      Object.assign(prototype, { query })
    }
  }
}
