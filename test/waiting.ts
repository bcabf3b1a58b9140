/** Waits for what others do: it is done when it is done, and looked at again and again till then. */
import { assert } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"

/** Until it holds. */
export const eventually = async (holds: () => boolean | Promise<boolean>, what: string, ms = 30_000) => {
  for (const end = performance.now() + ms; !(await holds()); await sleep(5))
    if (performance.now() > end) assert.fail(`never happened: ${what}`)
}

/** Until there is something, which it gives. */
export const until = async <A>(what: string, look: () => Promise<A | undefined | false>, ms = 40_000): Promise<A> => {
  for (const end = performance.now() + ms; ; await sleep(20)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end) assert.fail(`it never came to that: ${what}`)
  }
}
