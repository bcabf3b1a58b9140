/** The position that is looked at: shown at once, written into the address and asked about when it rests. */
import { useCallback, useEffect, useRef, useState } from "react"

const restMs = { address: 250, question: 100 } as const

export type Position = number | undefined

/**
 * `given` is the address's, and holds whenever somebody else has changed it; `write` writes the address. Undefined is
 * now.
 */
export const usePosition = (given: Position, write: (pos: Position) => void) => {
  const [pos, setPos] = useState(given)
  const [seen, setSeen] = useState(given)
  /** What the address says, or will as soon as the router has it. */
  const [written, setWritten] = useState(given)
  if (given !== seen) {
    setSeen(given)
    if (given !== written) {
      setWritten(given)
      setPos(given)
    }
  }
  useEffect(() => {
    if (pos === written) return
    const timer = setTimeout(() => {
      setWritten(pos)
      write(pos)
    }, restMs.address)
    return () => clearTimeout(timer)
  }, [pos, written, write])
  const go = useCallback((to: Position) => setPos(to), [])
  return [pos, go] as const
}

/**
 * The position to ask about: a position that is known in part is asked about when it has rested, any other at once,
 * unless another was asked about just now.
 */
export const useAsked = (pos: Position, isKnown: boolean): Position => {
  const [asked, setAsked] = useState(pos)
  const last = useRef(0)
  useEffect(() => {
    if (pos === asked) return
    const wait = isKnown ? restMs.question : Math.max(0, last.current + restMs.question - performance.now())
    const timer = setTimeout(() => {
      last.current = performance.now()
      setAsked(pos)
    }, wait)
    return () => clearTimeout(timer)
  }, [pos, isKnown, asked])
  return asked
}
