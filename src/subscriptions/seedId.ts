/** The id of a subscription that one request makes, however often it comes. */
import { hashedId } from "../hashedId.ts"

export const seedId = (workspace: string, seed: string) => hashedId("subscription", workspace, seed)
