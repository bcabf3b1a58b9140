/**
 * The id of an identity's actor: a hash of workspace and text, so that every node finds the same actor without a
 * look-up.
 */
import { hashedId } from "../hashedId.ts"

export const identityActorId = (workspace: string, identity: string) => hashedId("identity", workspace, identity)
