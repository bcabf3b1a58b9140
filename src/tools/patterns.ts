/**
 * Regular expressions of schemas, in linear time where they allow it.
 *
 * RE2 knows neither look-around nor back-references. A pattern that uses them runs on the engine of JavaScript, which can
 * take for ever: only of one that `isLinear` is it known that it does not, all others are to be run under a clock.
 */
import { RE2JS } from "re2js"

export interface Pattern {
  readonly test: (text: string) => boolean
  /** Not known before it was first tested: a linear pattern takes a while to make, and most are never asked. */
  readonly isLinear: () => boolean
}

const linearOf = (source: string): { readonly test: (text: string) => boolean } | undefined => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source))
  } catch {
    // Not what RE2 knows, or larger than it takes.
    return undefined
  }
}

/** Throws where the pattern is none of JavaScript's (with the flag `u`). */
export const compilePattern = (source: string): Pattern => {
  const native = new RegExp(source, "u")
  let made: { readonly linear: ReturnType<typeof linearOf> } | undefined
  return {
    test: (text) => {
      made ??= { linear: linearOf(source) }
      return (made.linear ?? native).test(text)
    },
    isLinear: () => made?.linear !== undefined
  }
}
