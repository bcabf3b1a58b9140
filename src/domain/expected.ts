/** Errors that are answers: nothing is broken, somebody is told no. */
import { Data } from "effect"

/**
 * `Data.TaggedError` for what is expected: it remembers no stack, which nobody would read, and which costs more than
 * all else of making it. Whoever is refused often would make the node pay for it.
 */
export const ExpectedError = <Tag extends string>(tag: Tag) =>
  new Proxy(Data.TaggedError(tag), {
    construct: (target, args, made) => {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      try {
        return Reflect.construct(target, args, made)
      } finally {
        Error.stackTraceLimit = stackTraceLimit
      }
    }
  })
