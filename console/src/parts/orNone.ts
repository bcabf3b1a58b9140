/** What is asked for, or that there is none: nothing but the server's 404 says so. Any other failure is one. */
import { TroupeError } from "../../../src/client/errors.ts"

export const orNone = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((failure: unknown) => {
    if (failure instanceof TroupeError && failure.status === 404) return undefined
    throw failure
  })
