/**
 * Regular expressions of schemas, in linear time where they allow it.
 *
 * RE2 knows neither look-around nor back-references. A pattern that uses them runs on the engine of JavaScript, which
 * can take for ever: who tests strangers' patterns must be able to stop.
 */
import { RE2JS } from "re2js"

export interface Pattern {
  readonly test: (text: string) => boolean
  /**
   * States of its program: what a character of text may cost, and what is held in memory. None where JavaScript runs
   * it.
   */
  readonly states: number
}

const linearOf = (source: string) => {
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
  const linear = linearOf(source)
  return linear === undefined
    ? { test: (text) => native.test(text), states: 0 }
    : { test: (text) => linear.test(text), states: linear.programSize() }
}
