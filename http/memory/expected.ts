/** The version that a write expects: said in the request, or by If-Match, which means the same here. */
import { Effect } from "effect"
import { Refused } from "../errors.ts"

const differ = new Refused({
  error: "invalid_request",
  message: "expectedVersion: differs from If-Match, which means the same"
})

/** What is not one strong tag, such as a weak one, never matches: as it stands it is no version. */
const versionIn = (ifMatch: string) => {
  const tag = ifMatch.trim()
  return tag === "*" ? undefined : (/^"([^"]+)"$/.exec(tag)?.[1] ?? tag)
}

/** As an action has it: without the field where nothing is expected. */
export const expectedOf = (ifMatch: string | undefined, sent: string | undefined) => {
  const tagged = ifMatch === undefined ? undefined : versionIn(ifMatch)
  if (tagged !== undefined && sent !== undefined && tagged !== sent) return Effect.fail(differ)
  const expectedVersion = tagged ?? sent
  return Effect.succeed(expectedVersion === undefined ? {} : { expectedVersion })
}
