/** Commands to threads on behalf of a request: who asks, and what becomes of the actor's answer. */
import type { Answer as Told } from "../../actors/Actor.ts"
import type { Asked } from "../../actors/thread/Threads.ts"
import type { MessageContent } from "../../src/domain/content.ts"
import type { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag } from "../etag.ts"
import type { Answer, Key } from "../Idempotency.ts"

export const askedBy = ({ principal, scopes, workspace }: Caller["Service"], key?: Key): Asked => ({
  workspace,
  principal,
  ...(scopes.has("write") ? { anyModel: true as const } : {}),
  ...(key === undefined ? {} : { key })
})

/** Where what was created can be read: by its id, the first of its kind in the text. */
const locationOf = (body: string, id: RegExp, path: string): Record<string, string> => {
  const found = id.exec(body)
  return found === null ? {} : { location: path + found[1]! }
}

// A quote inside a JSON string is escaped, so these match properties only.
const threadId = /"id":"(thr_[^"]+)"/
const inputId = /"id":"(inp_[^"]+)"/

const statuses = { created: 201, found: 200, done: 204 } as const satisfies Record<Told["kind"], number>

/** What an actor answered, as this interface answers. */
const answerOf = ({ body, kind, replayed }: Told, headers: Record<string, string>): Answer => {
  if (replayed === true) headers["idempotency-replayed"] = "true"
  return { status: statuses[kind], body, headers }
}

export const ofThread = (told: Told) =>
  answerOf(told, {
    ...(told.version === undefined ? {} : { etag: etag(told.version) }),
    ...(told.kind === "created" ? locationOf(told.body, threadId, "/v1/threads/") : {})
  })

export const ofInput = (thread: string) => (told: Told) =>
  answerOf(told, told.kind === "created" ? locationOf(told.body, inputId, `/v1/threads/${thread}/queue/`) : {})

export const ofWait = (told: Told) => answerOf(told, {})

/**
 * No image can be uploaded yet, so none that is referred to exists. `within` is where the message stands in the body:
 * `message.`
 */
export const refuseImages = (content: MessageContent, within = "") => {
  const at = content.findIndex((block) => block.type === "image")
  return at === -1
    ? undefined
    : new Refused({ error: "image_not_found", message: `${within}content[${at}].imageId: no such image` })
}

/** Only a trigger may say where a message came from, and there are no triggers yet. */
export const refuseOrigin = (origin: object | undefined, within = "") =>
  origin === undefined
    ? undefined
    : new Refused({ error: "origin_not_allowed", message: `${within}origin: only a trigger may send it` })

/** The identity that all threads of this caller have; an administrator gives threads any, or none. */
export const ownIdentity = ({ identity, scopes }: Caller["Service"]) => (scopes.has("admin") ? undefined : identity)

/**
 * An old version of a profile may lack the hooks and roles of a later one: it is for those who may change the profile.
 */
export const refusePin = ({ scopes }: Caller["Service"], profileVersion: number | undefined) =>
  profileVersion === undefined || scopes.has("write")
    ? undefined
    : new Refused({
        error: "permission_denied",
        code: "missing_scope",
        message: "profileVersion: this credential does not have the scope write"
      })

export const noThread = () => new Refused({ error: "not_found", message: "no such thread" })
