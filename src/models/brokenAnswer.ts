/**
 * How far an answer came that broke off: whoever reads the failure wants to know whether there was one, and how much of
 * it.
 */
export interface Partly {
  readonly text: string
  readonly calls: ReadonlyArray<unknown>
}

const some = (count: number, noun: string) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`])

/** `the answer broke off after 312 characters and 1 call: the connection was lost`. Characters are code points. */
export const brokeOff = ({ calls, text }: Partly, why: string): string => {
  const came = [...some([...text].length, "character"), ...some(calls.length, "call")]
  return (
    `the answer broke off ${came.length === 0 ? "before its first character" : `after ${came.join(" and ")}`}: ` +
    `${why}`
  )
}
