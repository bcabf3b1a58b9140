/**
 * Regular expressions of schemas, in linear time where they allow it.
 *
 * RE2 knows neither look-around nor back-references. A pattern that uses them runs on the engine of JavaScript, which can
 * take for ever: `isLinear` tells those apart, and the caller runs them under a clock.
 */
import { RE2JS } from "re2js"

export interface Pattern {
  readonly test: (text: string) => boolean
  readonly isLinear: boolean
}

/** Throws where the pattern is none of JavaScript's (with the flag `u`). */
export const compilePattern = (source: string): Pattern => {
  const native = new RegExp(source, "u")
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(source))
    return { test: (text) => linear.test(text), isLinear: true }
  } catch {
    // Not what RE2 knows, or larger than it takes.
    return { test: (text) => native.test(text), isLinear: false }
  }
}
