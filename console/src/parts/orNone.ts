/** The answer, or undefined where the server says 404. Any other failure stays one. */
import { TroupeError } from "../../../src/client/errors.ts"

export const orNone = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((failure: unknown) => {
    if (failure instanceof TroupeError && failure.status === 404) return undefined
    throw failure
  })
